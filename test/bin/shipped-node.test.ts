import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from '../support/child.ts';
import { cleanEnv } from '../support/clean-env.ts';
import { runCommand } from '../support/run-command.ts';

const test = suite('svc under a Node that is too old');
const entry = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

/** Makes this process, and none that it starts, take itself for an older Node. */
const preload = `data:text/javascript,${encodeURIComponent(
  `const versions = { ...process.versions, node: '20.19.2' };
   Object.defineProperties(process, { version: { value: 'v20.19.2' }, versions: { value: versions } });`,
)}`;
const old = ['--import', preload, entry];

test('runs with the Node that is installed beside it, and ends as it ends', async () => {
  const version = await runCommand(process.execPath, [...old, '--version'], '.');
  assert.match(version.stdout, /^svc\/\S+ \S+ node-v24\./, version.stderr);
  const wrong = await runCommand(process.execPath, [...old, 'netpol', '--no-cluster'], '.');
  assert.is(wrong.status, 3, wrong.stderr);
});

test('hands on signals', async () => {
  const proxy = [...old, 'run', 'proxy'];
  const env = cleanEnv({
    ...{ VAULT_ADDR: 'http://127.0.0.1:9', VAULT_TOKEN: 'none', SVC_PROXY_UPSTREAM: 'http://127.0.0.1:9' },
    ...{ SVC_PROXY_LISTEN: '127.0.0.1:0', SVC_PROXY_HEALTH: '127.0.0.1:0' },
    ...{ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
  });
  const child = await launch(process.execPath, proxy, { env });
  await child.until('the start-up line', () => child.logs().includes('"event":"listening"'));
  assert.is((await child.end('SIGTERM')).code, 0, child.logs());
});

test('does not for the wrapper, whose token would stay in the environment of the older one', async () => {
  const { status, stderr } = await runCommand(
    process.execPath,
    [...old, 'run', 'wrapper', '--', 'true'],
    '.',
  );
  assert.is(status, 78);
  assert.match(stderr, /NODE_TOO_OLD/);
});

test.run();
