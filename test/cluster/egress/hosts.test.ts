import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  formatHosts,
  isNoted,
  parseHosts,
  parseSights,
  unseenSince,
} from '../../../src/cluster/egress/hosts.ts';

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

const hosts = new Map([
  ['a.example', ['192.0.2.1', '192.0.2.2']],
  ['b.example', ['2001:db8::1']],
]);
/** Of 192.0.2.1 only. */
const unseen = (minutes: number) => (_host: string, address: string) =>
  address === '192.0.2.1' ? minutes : 0;

test('says for how long a name has not pointed to an address, and is read without it, too', () => {
  const text = formatHosts(hosts, 29_000_000, unseen(90));
  assert.is(text, '@=29000000 a.example=192.0.2.1~90,192.0.2.2 b.example=2001:db8::1');
  assert.equal(parseHosts(text), hosts);
  assert.is(unseenSince(parseSights(text), 29_000_010)('a.example', '192.0.2.1'), 100);
  assert.is(unseenSince(parseSights(text), 29_000_010)('a.example', '192.0.2.2'), 10);
  // no operator ran for days
  assert.is(unseenSince(parseSights(text), 29_009_999)('a.example', '192.0.2.2'), 720);
  assert.is(unseenSince(parseSights('a.example=192.0.2.1'), 29_009_999)('a.example', '192.0.2.1'), 0);
});

test('is not written again for each minute that passes, but before a leader that reads it errs by much', () => {
  const text = formatHosts(hosts, 1_000, unseen(90));
  assert.ok(isNoted(text, hosts, 1_000, unseen(90)));
  assert.ok(isNoted(text, hosts, 1_300, unseen(390)), 'time passes');
  assert.ok(isNoted(text, hosts, 1_060, unseen(0)), 'seen again');
  assert.not(isNoted(text, hosts, 1_361, unseen(451)), 'after six hours');
  assert.not(isNoted(text, hosts, 1_000, unseen(96)), 'written by hand');
  assert.not(isNoted(text, new Map([['a.example', ['192.0.2.1', '192.0.2.2']]]), 1_000, unseen(90)));
  const plain = formatHosts(hosts);
  assert.ok(isNoted(plain, hosts, 99_999, unseen(0)), 'all of them are still there');
  assert.not(isNoted(plain, hosts, 99_999, unseen(1)));
});

test.run();
