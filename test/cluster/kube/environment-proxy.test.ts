import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { environmentProxy } from '../../../src/cluster/kube/environment-proxy.ts';

const test = suite('the proxy of the environment for an API server');
const proxy = 'http://proxy.example:3128';
const proxyFor = (server: string, env: Record<string, string>) => environmentProxy(new URL(server), env);

test('is the one for the protocol; lower case first, and HTTP where no protocol is named', () => {
  const both = { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other:1' };
  assert.is(proxyFor('https://api.example', both), proxy);
  assert.is(proxyFor('http://api.example', both), 'http://other:1');
  assert.is(proxyFor('https://api.example', { ...both, https_proxy: 'lower:3128' }), 'http://lower:3128');
  assert.is(proxyFor('https://api.example', { HTTP_PROXY: proxy, HTTPS_PROXY: '' }), undefined);
});

/** The rules of httpproxy.Config in golang.org/x/net 0.60, which kubectl reads the variables with. */
for (const [server, exempt, isDirect] of [
  ['https://api.example', '*', true],
  ['https://api.example', 'other.example, *', true],
  ['https://api.example', 'other.example', false],
  ['https://api.example', 'API.example', true],
  ['https://api.k8s.example', 'k8s.example', true],
  ['https://k8s.example', '.k8s.example', false],
  ['https://api.k8s.example', '.k8s.example', true],
  ['https://api.k8s.example', '*.k8s.example', true],
  ['https://k8s.example', '*.k8s.example', false],
  ['https://mik8s.example', 'k8s.example', false],
  ['https://api.example', 'api.example:443', true],
  ['https://api.example:6443', 'api.example:443', false],
  ['https://10.1.2.3:6443', '10.0.0.0/8', true],
  ['https://192.0.2.3:6443', '10.0.0.0/8', false],
  ['https://10.1.2.3:6443', '10.1.2.3', true],
  ['https://10.1.2.3:6443', '10.1.2.3:6443', true],
  ['https://10.1.2.3:6443', '10.1.2.3:443', false],
  ['https://10.1.2.3', '2.3', false],
  ['https://[2001:db8::1]', '2001:db8::/32', true],
  ['https://[2001:db8::1]', '2001:db8:0::1', true],
  ['https://[2001:db8::1]:6443', '[2001:db8::1]:6443', true],
  ['https://[2001:db8::1]:6443', '[2001:db8::1]:443', false],
  ['https://localhost:6443', '', true],
  ['https://127.0.0.9:6443', '', true],
  ['https://[::1]:6443', '', true],
] as const) {
  test(`NO_PROXY=${exempt} ${isDirect ? 'exempts' : 'does not exempt'} ${server}`, () => {
    assert.is(proxyFor(server, { HTTPS_PROXY: proxy, NO_PROXY: exempt }), isDirect ? undefined : proxy);
  });
}

test.run();
