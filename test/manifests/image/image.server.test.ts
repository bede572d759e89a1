import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Child } from '../../support/child.ts';
import { http } from '../../support/http.ts';
import { buildImage, type TestImage } from '../../support/image.ts';
import { freePort } from '../../support/ports.ts';
import { waitFor } from '../../support/wait-for.ts';
import { requireTool } from '../../testbed/ensure.ts';

const test = suite<{ plain: TestImage; agent: TestImage }>('container images');

test.before(async (context) => {
  const { bins } = await requireTool('libbpf');
  context.plain = await buildImage('proxy');
  // the files of the other one are among these
  context.agent = await buildImage('agent', { layered: true, libraries: Object.values(bins) });
});
test.after(async ({ plain, agent }) => {
  await plain?.remove();
  await agent?.remove();
});

/** Waits for a status of a path of the container's health server, and ends it as a kubelet does. */
async function answers(child: Child, url: string, status: number): Promise<void> {
  const reached = async () => child.ended || (await http(url)).status === status;
  await waitFor(`${status} of ${url}`, reached, { details: child.logs });
  assert.not.ok(child.ended, child.logs());
}

test('start without a writable root, a capability, or a user of their own name', async ({ plain }) => {
  const { status, stdout, stderr } = await plain.run(['--version']);
  assert.is(status, 0, stderr);
  assert.match(stdout, /^svc\/\d+\.\d+\.\d+ linux-\S+ node-v24\./);
});

test('know every component that a target starts', async ({ plain }) => {
  for (const name of ['operator', 'agent', 'proxy']) {
    const { status, stdout, stderr } = await plain.run(['run', name, '--help']);
    assert.is(status, 0, stderr);
    assert.match(stdout, new RegExp(`svc run ${name}`));
  }
});

test('run as nobody in particular; the agent as root', ({ plain, agent }) => {
  assert.is(plain.target.user, '65532:65532');
  assert.is(agent.target.user, '0:0');
  assert.ok(agent.target.packages.includes('libbpf1'));
});

test('the proxy serves, and ends well when it is told to', async ({ plain }) => {
  const [port, health] = [await freePort(), await freePort()];
  const child = await plain.start({
    ...{ SVC_PROXY_LISTEN: `127.0.0.1:${port}`, SVC_PROXY_HEALTH: `127.0.0.1:${health}` },
    ...{ SVC_PROXY_UPSTREAM: 'http://127.0.0.1:1', AWS_REGION: 'eu-central-1' },
    ...{ AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'not-a-secret' },
    ...{ VAULT_ADDR: 'http://127.0.0.1:1', VAULT_AUTH_METHOD: 'token', VAULT_TOKEN: 'none' },
  });
  await answers(child, `http://127.0.0.1:${health}/healthz`, 200);
  await answers(child, `http://127.0.0.1:${port}/bucket/key`, 503);
  assert.is((await child.end()).code, 0, child.logs());
});

test('the agent finds libbpf, and says why it guards nothing without a capability', async ({ agent }) => {
  const health = await freePort();
  const child = await agent.start({
    ...{ SVC_AGENT_HEALTH: `127.0.0.1:${health}`, SVC_AGENT_SOCKET: '/tmp/agent.sock', NODE_NAME: 'here' },
  });
  await answers(child, `http://127.0.0.1:${health}/healthz`, 200);
  const ready = await http(`http://127.0.0.1:${health}/readyz`);
  assert.is(ready.status, 503);
  assert.not.match(child.logs(), /LIBBPF_UNAVAILABLE/);
  assert.is((await child.end()).code, 0, child.logs());
});

test.run();
