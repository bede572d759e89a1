import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatHosts, parseHosts } from '../../../src/cluster/egress/policies.ts';

const test = suite('annotation of names');

test('is read back as it was written', () => {
  const host = fc.domain();
  const address = fc.oneof(fc.ipV4(), fc.constantFrom('2001:db8::1', 'fd00::2'));
  const entry = fc.tuple(
    host,
    fc.uniqueArray(address, { minLength: 1 }).map((list) => list.sort()),
  );
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const hosts = new Map(entries);
      assert.equal(parseHosts(formatHosts(hosts)), hosts);
    }),
  );
});

test('is the same in every order', () => {
  const [one, other] = [
    ['b.example', ['192.0.2.2', '192.0.2.1']],
    ['a.example', ['192.0.2.3']],
  ] as [string, string[]][];
  const text = 'a.example=192.0.2.3 b.example=192.0.2.1,192.0.2.2';
  assert.is(formatHosts(new Map([one, other] as [string, string[]][])), text);
  assert.is(formatHosts(new Map([other, one] as [string, string[]][])), text);
});

test('is read as far as it can be', () => {
  fc.assert(fc.property(fc.string(), (text) => void parseHosts(text)));
  assert.equal(
    parseHosts('=192.0.2.1 a b= c=nonsense,192.0.2.1,10.0.0.0/8 d==e'),
    new Map([
      ['b', []],
      ['c', ['192.0.2.1']],
    ]),
  );
});

test.run();
