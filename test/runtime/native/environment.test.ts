import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runFixture } from './run-fixture.ts';

const env = { TAKEN: 'sésame', EMPTY: '', WIPED: 'gone', TAKEN_TOO: 'stays' };
const stars = (text: string) => '*'.repeat(Buffer.byteLength(text));

const environment = suite('environment');

for (const ordinary of [false, true]) {
  environment(
    `moves bytes out of it and overwrites them, ${ordinary ? 'as an ordinary user' : 'as root'}`,
    () => {
      const { json, output } = runFixture('environment', { env, ordinary });
      assert.is(json?.kind, 'memfd_secret', output);
      assert.equal(json.digits, [...Buffer.from('sésame')]);
      assert.is(json.empty, 0);
      assert.is(json.unset, true);
      assert.is(json.taken, null);
      assert.is(json.kept, 'stays');
      assert.equal(
        json.names.filter((name: string) => /TAKEN|EMPTY|WIPED|^\*+$/.test(name)),
        ['TAKEN_TOO'],
      );
      assert.equal(
        json.own.sort(),
        ['TAKEN_TOO=stays', stars('EMPTY='), stars('TAKEN=sésame'), stars('WIPED=gone')].sort(),
      );
    },
  );
}

environment('takes the first of two values, as getenv does, and leaves neither', () => {
  const { json, output } = runFixture('environment', { env, args: ['twice'] });
  assert.equal(json?.digits, [...Buffer.from('sésame')], output);
  assert.is(json.taken, null);
  assert.is(json.own.filter((entry: string) => entry === stars('TAKEN=second')).length, 1, output);
  assert.not.match(output, /second/);
});

environment.run();
