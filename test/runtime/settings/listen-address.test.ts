import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  formatListenAddress,
  listenAddress,
  listenAddressOrOff,
} from '../../../src/runtime/settings/listen-address.ts';
import { isLoopback } from '../../../src/runtime/settings/setting.ts';

const addresses = suite('listen addresses');
const { parse } = listenAddress();

addresses('reads host and port', () => {
  assert.equal(parse('127.0.0.1:8190'), { host: '127.0.0.1', port: 8190 });
  assert.equal(parse('localhost:0'), { host: 'localhost', port: 0 });
  assert.equal(parse('[::1]:65535'), { host: '::1', port: 65_535 });
  assert.equal(parse(':8191'), { host: undefined, port: 8191 });
  assert.equal(parse('proxy-1.ns.svc:80'), { host: 'proxy-1.ns.svc', port: 80 });
});

addresses('refuses what is not one', () => {
  const wrong = [
    '',
    ':',
    '8190',
    '127.0.0.1',
    '127.0.0.1:',
    ':65536',
    ':-1',
    '::1:80',
    '[::1]',
    '[localhost]:80',
  ];
  const odd = [
    '[1.2.3.4]:80',
    '127.0.0.300:80',
    '127.1:80',
    '1:80',
    ' :80',
    'a b:80',
    'http://a:80',
    'a_b:80',
    '-a:1',
  ];
  for (const text of [...wrong, ...odd, '[:80', ']:80', ':8e1', ':0x50', '127.0.0.1:80\n']) {
    assert.throws(() => parse(text), /\[host\]:port/, text);
  }
});

addresses('reads back what it writes', () => {
  const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant(undefined), fc.constant('localhost'));
  fc.assert(
    fc.property(host, fc.integer({ min: 0, max: 65_535 }), (name, port) => {
      assert.equal(parse(formatListenAddress({ host: name, port })), { host: name, port });
    }),
  );
});

addresses('an empty address turns a listener off where that is allowed', () => {
  assert.is(listenAddressOrOff().parse(''), undefined);
  assert.equal(listenAddressOrOff().parse(':1'), { host: undefined, port: 1 });
});

addresses('knows loopback by what is written and never by resolving', () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '::1', '[::1]']) {
    assert.ok(isLoopback(host), host);
  }
  const others = [
    '0.0.0.0',
    '::',
    '127.0.0.1.evil.eu',
    'localhost.evil.eu',
    '128.0.0.1',
    '127.evil.eu',
    undefined,
  ];
  for (const host of others) assert.not.ok(isLoopback(host), host);
});

addresses.run();
