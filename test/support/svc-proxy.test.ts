import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from './http.ts';
import { startSvcProxy } from './svc-proxy.ts';
import type { SvcProxyConfig } from './types.ts';

const test = suite('proxy starter');

const config: SvcProxyConfig = {
  entry: fileURLToPath(new URL('./fixtures/stand-in-proxy.ts', import.meta.url)),
  upstream: { endpoint: 'http://127.0.0.1:9', region: 'r', accessKeyId: 'AK', secretAccessKey: 'SK' },
  vault: { addr: 'http://127.0.0.1:8', kubernetes: { role: 'r', mountPath: 'auth/k', jwtPath: '/jwt' } },
  args: ['--strict'],
  env: { SVC_PROXY_ACCESS_KEY_ID: 'CALLER', AWS_EC2_METADATA_DISABLED: undefined },
};

test('starts it with its settings and nothing of the surrounding environment', async () => {
  process.env.AWS_CA_BUNDLE = '/elsewhere';
  const proxy = await startSvcProxy(config);
  const { arguments: args, environment } = (await http(proxy.url)).json;
  assert.equal(args, ['run', 'proxy', '--strict']);
  assert.is(environment.SVC_PROXY_UPSTREAM, 'http://127.0.0.1:9');
  assert.is(environment.SVC_SA_TOKEN_PATH, '/jwt');
  assert.is(environment.VAULT_AUTH_METHOD, 'kubernetes');
  assert.is(environment.AWS_CA_BUNDLE, undefined);
  assert.is(environment.AWS_EC2_METADATA_DISABLED, undefined);
  assert.is(proxy.target.accessKeyId, 'CALLER');
  await proxy.stop();
});

test('is killed and restarted, and keeps its output and shows its memory', async () => {
  const proxy = await startSvcProxy(config);
  const first = proxy.pid;
  const { now, peak } = proxy.rss();
  assert.ok(now > 10_000_000 && peak >= now, `${now} ${peak}`);
  assert.is((await proxy.kill('SIGKILL')).signal, 'SIGKILL');
  await proxy.restart();
  assert.is.not(proxy.pid, first);
  assert.is((await http(`${proxy.health}/readyz`)).status, 200);
  assert.is(proxy.output().match(/listening/g)?.length, 2);
  await proxy.stop();
});

test('an early end is an error with its output', async () => {
  const error = await startSvcProxy({ ...config, args: ['--fail'] }).catch((cause) => cause);
  assert.match(error.message, /svc run proxy to be ready: the process ended before that/);
  assert.match(error.message, /told to fail/);
});

test.run();
