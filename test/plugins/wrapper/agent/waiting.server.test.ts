import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LogLine } from '../../../support/log-lines.ts';
import {
  type AgentAnswer,
  agentAddress,
  startNodeAgent,
  type TestNodeAgent,
} from '../../../support/node-agent.ts';
import type { WrapperRun } from '../../../support/svc-wrapper.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type FaultyBed, page, startFaultyBed } from '../support/faulty-bed.ts';

export const idle = true;

const waiting = suite('waiting for the node agent');
let bed: FaultyBed;
const agents: TestNodeAgent[] = [];
let connectionsBefore = 0;

waiting.before(async () => {
  bed = await startFaultyBed();
});
waiting.before.each(() => {
  connectionsBefore = bed.faults.stats.connections;
});
waiting.after.each(async () => {
  await bed.clear();
  await Promise.all(agents.splice(0).map((agent) => agent.stop()));
});
waiting.after(() => bed?.stop());

async function agentThat(answer?: AgentAnswer, address?: string): Promise<TestNodeAgent> {
  const agent = await startNodeAgent({ ...(answer && { answer }), ...(address && { address }) });
  agents.push(agent);
  return agent;
}

const start = (address: string, env: Record<string, string> = {}): Promise<WrapperRun> =>
  bed.start({ env: { SVC_EBPF_AGENT_ADDR: address, ...env } });

function assertNothingAsked(): void {
  assert.equal(bed.requests.requests, []);
  assert.is(bed.faults.stats.connections, connectionsBefore);
}

/** How it ended, after which nothing has been asked of the key server. */
async function refusal(run: WrapperRun): Promise<LogLine & { readonly status: number | null }> {
  await waitFor('the refusal', () => run.ended, { timeoutMs: 20_000, details: run.output });
  const { code: status } = await run.exited;
  assertNothingAsked();
  assert.not.match(run.output(), /^RUN/m);
  const line = run.events('start.failed')[0];
  assert.ok(line?.['nextStep'], run.output());
  return { ...(line as LogLine), status };
}

waiting(
  'an agent that comes later: nothing is asked of the key server before, all is well afterwards',
  async () => {
    const { address, remove } = agentAddress();
    const run = await start(address);
    await run.event('agent.waiting', 3);
    assertNothingAsked();
    assert.equal([(await page(run, '/healthz')).status, (await page(run, '/readyz')).status], [503, 503]);
    let asked: number | undefined;
    const agent = await agentThat(undefined, address);
    agent.onRegister = () => {
      asked = bed.requests.requests.length;
    };
    await run.says(/^RUN one$/m);
    assert.is(asked, 0);
    assert.ok(bed.requests.requests.length > 0);
    const { status, json } = await page(run, '/healthz');
    assert.equal([status, json.status], [200, 'ok']);
    await remove();
  },
);

waiting('an agent that hangs: 69 when the time is up', async () => {
  const { address } = await agentThat('hang');
  const { status, code, error } = await refusal(await start(address, { SVC_STARTUP_TIMEOUT: '1s' }));
  assert.equal([status, code], [69, 'AGENT_UNAVAILABLE']);
  assert.match(error, /did not answer in time/);
});

waiting('an agent that hangs is asked again, and nothing goes on meanwhile', async () => {
  const agent = await agentThat('hang');
  const run = await start(agent.address);
  await waitFor('the first call', () => agent.requests.length === 1);
  await sleep(1_000);
  assertNothingAsked();
  agent.answer = { tier: 'TIER_LSM', enforcing: true };
  await run.says(/^RUN one$/m);
  assert.equal(agent.requests.filter(({ method }) => method === 'Register').length, 2);
});

waiting(
  'SVC_REQUIRE_AGENT=false goes on without one that hangs, warns, and health and metrics tell',
  async () => {
    const { address } = await agentThat('hang');
    const run = await start(address, { SVC_REQUIRE_AGENT: 'false' });
    await run.says(/^RUN one$/m);
    assert.is((await run.event('agent.missing')).level, 'warn');
    const { status, json } = await page(run, '/healthz');
    assert.equal([status, json.status], [200, 'degraded']);
    assert.match(json.degraded.agent, /did not answer in time/);
    assert.match((await page(run, '/metrics')).text, /^svc_wrapper_agent_tier 0$/m);
  },
);

waiting('an agent that was not required and comes later gets registration and report', async () => {
  const { address, remove } = agentAddress();
  const run = await start(address, {
    SVC_REQUIRE_AGENT: 'false',
    SVC_STARTUP_TIMEOUT: '300ms',
    RENEWAL_INTERVAL: '1s',
  });
  await run.says(/^RUN one$/m);
  assert.is((await page(run, '/healthz')).json.status, 'degraded');
  const { pid } = await run.event('application.started');
  const agent = await agentThat({ code: 'FAILED_PRECONDITION', details: 'is traced' }, address);
  await waitFor('the refusal', async () =>
    /is traced/.test((await page(run, '/healthz')).json.degraded?.agent),
  );
  agent.answer = { tier: 'TIER_LSM', enforcing: true };
  assert.is((await run.event('agent.registered'))['tier'], 1);
  await waitFor('the report', () => agent.requests.some(({ method }) => method === 'Report'));
  const reports = agent.requests.filter(({ method }) => method === 'Report');
  assert.is((reports[0]?.message['application'] as { pid: number } | undefined)?.pid, pid);
  await waitFor('its recovery', async () => (await page(run, '/healthz')).json.status === 'ok');
  assert.match((await page(run, '/metrics')).text, /^svc_wrapper_agent_enforcing 1$/m);
  const asked = agent.requests.filter(({ method }) => method === 'Register').length;
  await sleep(1_500);
  assert.is(agent.requests.filter(({ method }) => method === 'Register').length, asked, 'once is enough');
  assert.is(run.ended, false);
  await remove();
});

waiting('each verdict has its exit status and its code, whatever SVC_REQUIRE_AGENT says', async () => {
  const verdicts = [
    ['PERMISSION_DENIED', 77, 'AGENT_REFUSED'],
    ['UNAUTHENTICATED', 77, 'AGENT_REFUSED'],
    ['INVALID_ARGUMENT', 78, 'AGENT_POD_UNKNOWN'],
  ] as const;
  for (const [code, status, verdict] of verdicts)
    for (const required of ['true', 'false']) {
      const { address } = await agentThat({ code, details: 'for a reason' });
      const ended = await refusal(await start(address, { SVC_REQUIRE_AGENT: required }));
      assert.equal([ended.status, ended['code']], [status, verdict]);
      assert.match(ended['error'], /for a reason/);
    }
});

waiting('something that is no agent of this schema: 69 at once', async () => {
  const { address } = await agentThat({ code: 'UNIMPLEMENTED', details: 'unknown service' });
  const { status, code } = await refusal(await start(address));
  assert.equal([status, code], [69, 'AGENT_INCOMPATIBLE']);
});

waiting('an agent that audits only, where that is enough: degraded, and told with its reason', async () => {
  const { address } = await agentThat({ tier: 'TIER_TRACEPOINT', enforcing: false, reason: 'audit mode' });
  const run = await start(address);
  await run.says(/^RUN one$/m);
  const { tier, enforcing, reason } = await run.event('agent.registered');
  assert.equal([tier, enforcing, reason], [3, false, 'audit mode']);
  const { status, json } = await page(run, '/healthz');
  assert.equal([status, json.status], [200, 'degraded']);
  assert.match(json.degraded.agent, /audit mode/);
  const { text } = await page(run, '/metrics');
  assert.match(text, /^svc_wrapper_agent_tier 3$/m);
  assert.match(text, /^svc_wrapper_agent_enforcing 0$/m);
});

waiting('SIGTERM while it waits: 143, and nothing was asked', async () => {
  const { address } = await agentThat('hang');
  const run = await start(address);
  await waitFor('the call', () => agents[0]?.requests.length === 1);
  run.signal('SIGTERM');
  assert.is((await run.exited).code, 143);
  assertNothingAsked();
});

waiting.run();
