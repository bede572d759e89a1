import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { agentAddress, startNodeAgent, type TestNodeAgent } from '../../../support/node-agent.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type FaultyBed, startFaultyBed } from '../support/faulty-bed.ts';

const POD = '6f9c1c1e-5d1c-4f0e-9f8a-0d7b3a1f2c4d';
let bed: FaultyBed;

const registration = suite('the wrapper and its node agent');
registration.before(async () => {
  bed = await startFaultyBed();
});
registration.after.each(() => bed.clear());
registration.after(() => bed.stop());

async function withAgent(work: (agent: TestNodeAgent) => Promise<void>): Promise<void> {
  const agent = await startNodeAgent();
  try {
    await work(agent);
  } finally {
    await agent.stop();
  }
}

registration('registers before it asks for anything, and reports once the application runs', () =>
  withAgent(async (agent) => {
    let requestsBefore: number | undefined;
    agent.onRegister = () => {
      requestsBefore = bed.requests.requests.length;
    };
    const env = { SVC_EBPF_AGENT_ADDR: agent.address, SVC_POD_UID: POD };
    const run = await bed.start({ env });
    await run.says(/^RUN one$/m);
    const report = await run.event('protection');
    assert.is(requestsBefore, 0);
    assert.is((await run.event('agent.registered'))['tier'], 1);
    const [first, second] = await reported(agent);
    assert.is(first?.message['pod_uid'], POD);
    const measured = first?.message['protection'] as Record<string, unknown> | undefined;
    assert.is(measured?.['dumpable'], false);
    assert.is(second?.method, 'Report');
    assert.equal(second?.message['delivery'], 'DELIVERY_BOTH');
    const wrapper = second?.message['wrapper'] as Record<string, unknown> | undefined;
    assert.is(wrapper?.['locked_bytes'], String(report['locked_bytes']));
    const application = second?.message['application'] as Record<string, unknown> | undefined;
    assert.is(application?.['pid'], (await run.event('application.started'))['pid']);
    assert.is(application?.['core_limit'], '1');
  }),
);

async function reported(agent: TestNodeAgent) {
  await waitFor('the report', () => agent.requests.length >= 2);
  return agent.requests;
}

registration('refused: 77, and no secret was fetched', () =>
  withAgent(async (agent) => {
    agent.answer = { code: 'FAILED_PRECONDITION', details: 'the process is traced' };
    const run = await bed.start({ env: { SVC_EBPF_AGENT_ADDR: agent.address } });
    assert.is((await run.exited).code, 77);
    assert.match(run.output(), /the process is traced/);
    assert.is(bed.requests.requests.length, 0);
  }),
);

registration('not enforcing where that is required: 71, and no secret was fetched', () =>
  withAgent(async (agent) => {
    agent.answer = { tier: 'TIER_TRACEPOINT', enforcing: false, reason: 'audit only' };
    const env = { SVC_EBPF_AGENT_ADDR: agent.address, SVC_REQUIRE_ENFORCEMENT: 'true' };
    const run = await bed.start({ env });
    assert.is((await run.exited).code, 71);
    assert.is(bed.requests.requests.length, 0);
  }),
);

registration('absent: 69 when the time is up', async () => {
  const { address, remove } = agentAddress();
  const env = { SVC_EBPF_AGENT_ADDR: address, SVC_STARTUP_TIMEOUT: '300ms' };
  const run = await bed.start({ env });
  assert.is((await run.exited).code, 69);
  assert.is(bed.requests.requests.length, 0);
  await remove();
});

registration('absent and not required: goes on, says so; not where enforcement is required', async () => {
  const { address, remove } = agentAddress();
  const env = { SVC_EBPF_AGENT_ADDR: address, SVC_STARTUP_TIMEOUT: '300ms', SVC_REQUIRE_AGENT: 'false' };
  const run = await bed.start({ env });
  await run.says(/^RUN one$/m);
  assert.is((await run.event('agent.missing')).level, 'warn');
  const strict = await bed.start({ env: { ...env, SVC_REQUIRE_ENFORCEMENT: 'true' } });
  assert.is((await strict.exited).code, 69);
  assert.not.match(strict.output(), /RUN/);
  await remove();
});

registration('without an address, where no programs cover it: 71 when the time is up', async () => {
  const run = await bed.start({ env: { SVC_REQUIRE_ENFORCEMENT: 'true', SVC_STARTUP_TIMEOUT: '300ms' } });
  assert.is((await run.exited).code, 71);
  assert.is((await run.event('agent.waiting')).level, 'warn');
  assert.match(run.output(), /svc\/protected=true/);
  assert.is(bed.requests.requests.length, 0);
});

registration.run();
