import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EnvMap, envMap, parseEnvMap } from '../../../src/runtime/environment/env-map.ts';

const test = suite('SVC_ENV_MAP');
const to = (field: string, variable: string) => ({ field, variable });

function mapOf(text: string): EnvMap {
  const { map, errors } = parseEnvMap(text);
  assert.equal(errors, [], text);
  return map;
}

test('one group a path', () => {
  assert.equal(mapOf('user=DB_USER,pass=DB_PASS;key=API_KEY'), [
    [to('user', 'DB_USER'), to('pass', 'DB_PASS')],
    [to('key', 'API_KEY')],
  ]);
});

test('a path without mappings has an empty group, the last ones may be left out', () => {
  assert.equal(mapOf(';a=A'), [[], [to('a', 'A')]]);
  assert.equal(mapOf('a=A;;b=B; ;'), [[to('a', 'A')], [], [to('b', 'B')]]);
  assert.equal(mapOf(''), []);
});

test('blanks around items, fields and variables are dropped', () => {
  assert.equal(mapOf(' a = A , b=B ;\n c=C '), [[to('a', 'A'), to('b', 'B')], [to('c', 'C')]]);
});

test('a field may hold anything but separators, and may go to two variables', () => {
  assert.equal(mapOf('tls.key=K,a b=L,x=y=M,a b=N'), [
    [to('tls.key', 'K'), to('a b', 'L'), to('x=y', 'M'), to('a b', 'N')],
  ]);
});

test('names every error at once', () => {
  const { errors } = parseEnvMap('a=A,b;=C,d=,,e=1X;f=F G;h=A');
  assert.equal(errors, [
    '"b" in group 1 is not of the form <field>=<ENV_VAR>',
    '"=C" in group 2 is not of the form <field>=<ENV_VAR>',
    '"d=" in group 2 is not of the form <field>=<ENV_VAR>',
    '"" in group 2 is not of the form <field>=<ENV_VAR>',
    '"e=1X" in group 2 does not name a variable of letters, digits, _, - and .',
    '"f=F G" in group 3 does not name a variable of letters, digits, _, - and .',
    'A is given to more than one field',
  ]);
});

test('as a setting, all errors stand in its message', () => {
  assert.equal(envMap().parse('a=A'), [[to('a', 'A')]]);
  assert.throws(() => envMap().parse('b;c'), /"b" in group 1 .*; "c" in group 2 /);
});

test('reads back every map that is written', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '.', '=', '/', 'ß'), minLength: 1 });
  const group = fc.array(field, { minLength: 1 });
  fc.assert(
    fc.property(fc.array(group), (groups) => {
      let count = 0;
      const map = groups.map((fields) => fields.map((one) => to(one, `V_${count++}`)));
      const text = map
        .map((one) => one.map(({ field, variable }) => `${field}=${variable}`).join(','))
        .join(';');
      assert.equal(mapOf(text), map);
    }),
  );
});

test.run();
