import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { address, destination, hostAndPort } from '../../../src/plugins/netpol/settings.ts';
import { SettingMistake } from '../../../src/runtime/settings/setting.ts';

const test = suite('what flags of svc netpol take');

const tcp = (where: object, port = 443) => ({ ...where, port, protocol: 'TCP' });
const destinations: Readonly<Record<string, object | undefined>> = {
  'db.example.eu': tcp({ host: 'db.example.eu' }),
  'DB.Example.eu.:5432': tcp({ host: 'db.example.eu' }, 5432),
  'tcp://db:1': tcp({ host: 'db' }, 1),
  'udp://192.0.2.7:65535': { host: '192.0.2.7', port: 65_535, protocol: 'UDP' },
  '192.0.2.9/24:123': tcp({ cidr: '192.0.2.0/24' }, 123),
  '[2001:DB8::1]': tcp({ host: '2001:db8::1' }),
  '[2001:db8:1::/32]:443': tcp({ cidr: '2001:db8::/32' }),
  '10.0.0.0/8': tcp({ cidr: '10.0.0.0/8' }),
  '0.0.0.0/0': undefined,
  '[::/0]:443': undefined,
  '10.0.0.0/7': undefined,
  '[::ffff:0.0.0.0/96]': undefined,
  '192.0.2.256': undefined,
  '192.0.2.7/33': undefined,
  '127.1': undefined,
  'db:0': undefined,
  'db:65536': undefined,
  'db:': undefined,
  'https://db': undefined,
  'db/path': undefined,
  '*.example.eu': undefined,
  '2001:db8::1': undefined,
  '[db]:443': undefined,
  'a..b': undefined,
  '-a': undefined,
  '': undefined,
};

for (const [text, expected] of Object.entries(destinations)) {
  test(`--allow ${JSON.stringify(text)} is ${expected === undefined ? 'refused' : 'taken'}`, () => {
    if (expected === undefined)
      assert.throws(
        () => destination().parse(text),
        (e: unknown) => e instanceof SettingMistake,
      );
    else assert.equal(destination().parse(text), expected);
  });
}

test('an API server has a port', () => {
  assert.equal(hostAndPort().parse('[2001:db8::1]:6443'), { host: '2001:db8::1', port: 6443 });
  assert.equal(hostAndPort().parse('K8s.example.eu:443'), { host: 'k8s.example.eu', port: 443 });
  for (const text of ['192.0.2.1', 'https://k8s:443', '192.0.2.0/24:443', ':443'])
    assert.throws(() => hostAndPort().parse(text), undefined, text);
});

test('a DNS server is an address', () => {
  assert.is(address().parse('FD00::000A'), 'fd00::a');
  for (const text of ['kube-dns', '10.96.0', '10.96.0.10:53', 'fe80::1%eth0'])
    assert.throws(() => address().parse(text), undefined, text);
});

test('whatever is typed is taken as one destination on one port, or refused as an error', () => {
  const piece = fc.constantFrom(
    'udp://',
    '[',
    ']',
    ':',
    '/',
    '.',
    '0',
    '8',
    '10',
    'a',
    '::',
    'db8',
    '32',
    '443',
    '%',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      try {
        const { host, cidr, port } = destination().parse(text);
        assert.is((host === undefined) !== (cidr === undefined), true);
        assert.ok(port !== undefined && port >= 1 && port <= 65_535);
        assert.not.match(`${host ?? cidr}`, /[[\]% ]|\/[0-6]$/);
      } catch (error) {
        assert.instance(error, SettingMistake);
      }
    }),
    { numRuns: 2_000 },
  );
});

test.run();
