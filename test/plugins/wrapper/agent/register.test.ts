import { createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Registration } from '../../../../src/plugins/wrapper/agent/agent-client.ts';
import { registerWithAgent } from '../../../../src/plugins/wrapper/agent/register.ts';
import { reportToAgent } from '../../../../src/plugins/wrapper/agent/report.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import { unixSocketPath } from '../../../../src/runtime/protocols/grpc.ts';
import { type AgentAnswer, agentAddress, startNodeAgent } from '../../../support/node-agent.ts';

const LONG = 60_000;
const UNLIMITED = Number.POSITIVE_INFINITY;
const protection = {
  lockMode: 'all',
  lockedBytes: 6_000_000,
  unlockedBytes: 4096,
  swappedBytes: 0,
  lockLimitBytes: UNLIMITED,
  coreLimitBytes: 1,
  dumpable: false,
  ipcLock: true,
} as const;
const registration: Registration = {
  podUid: '6f9c1c1e-5d1c-4f0e-9f8a-0d7b3a1f2c4d',
  version: '0.1.0',
  protection,
  requireEnforcement: false,
};
const shownProtection = {
  lock_mode: 'LOCK_MODE_ALL',
  locked_bytes: '6000000',
  unlocked_bytes: '4096',
  core_limit: '1',
  dumpable: false,
  ipc_lock: true,
};

const pathOf = (address: string) => unixSocketPath(address) as string;

/** Code and exit status of what a registration ended with. */
async function failure(registering: Promise<unknown>): Promise<[string, number, SvcError]> {
  const error = await registering.then(
    () => assert.unreachable('it was registered'),
    (reason) => reason,
  );
  assert.instance(error, SvcError);
  return [error.code, error.exitStatus, error];
}

async function withAgent<T>(
  answer: AgentAnswer | undefined,
  work: (socketPath: string) => Promise<T>,
): Promise<T> {
  const agent = await startNodeAgent(answer === undefined ? {} : { answer });
  try {
    return await work(pathOf(agent.address));
  } finally {
    await agent.stop();
  }
}

const agentTests = suite('node agent, from the wrapper');

agentTests('registers with what was measured, and reads the acknowledgement', async () => {
  const agent = await startNodeAgent();
  const socketPath = pathOf(agent.address);
  const acknowledgement = await registerWithAgent(registration, { socketPath, timeoutMs: LONG });
  await agent.stop();
  assert.equal(acknowledgement, {
    ...{ registeredPid: 4711, tier: 1, enforcing: true, agentVersion: '9.8.7-test', reason: '' },
  });
  assert.equal(agent.requests, [
    {
      method: 'Register',
      message: { pod_uid: registration.podUid, wrapper_version: '0.1.0', protection: shownProtection },
    },
  ]);
});

agentTests('reports what is in force, limits that there are none of left out', async () => {
  const agent = await startNodeAgent();
  const report = {
    podUid: '',
    version: '0.1.0',
    wrapper: { ...protection, lockMode: 'none' as const, lockLimitBytes: 65_536, dumpable: true },
    application: {
      pid: 17,
      lockedBytes: 0,
      swappedBytes: 8192,
      coreLimitBytes: UNLIMITED,
      dumpable: undefined,
    },
    secretMemory: { kind: 'memfd_secret' as const, bytes: 4096, locked: true, undumped: true },
    delivery: 'fd' as const,
  };
  await reportToAgent(report, { socketPath: pathOf(agent.address), timeoutMs: LONG });
  await agent.stop();
  assert.equal(agent.requests[0]?.message, {
    wrapper_version: '0.1.0',
    wrapper: { ...shownProtection, lock_mode: 'LOCK_MODE_NONE', lock_limit: '65536', dumpable: true },
    application: { pid: 17, swapped_bytes: '8192' },
    secret_memory: {
      kind: 'SECRET_MEMORY_KIND_MEMFD_SECRET',
      bytes: '4096',
      locked: true,
      undumped: true,
    },
    delivery: 'DELIVERY_FD',
  });
});

agentTests('an agent that comes later is waited for', async () => {
  const { address, remove } = agentAddress();
  let attempts = 0;
  let late: ReturnType<typeof startNodeAgent> | undefined;
  const onRetry = () => {
    attempts += 1;
    if (attempts === 2) late = startNodeAgent({ address });
  };
  const options = { socketPath: pathOf(address), timeoutMs: LONG, onRetry };
  const acknowledgement = await registerWithAgent(registration, options);
  assert.is(acknowledgement.tier, 1);
  assert.ok(attempts >= 2);
  await (await late)?.stop();
  await remove();
});

agentTests('an agent that is not ready yet is waited for', async () => {
  const agent = await startNodeAgent({ answer: { code: 'UNAVAILABLE', details: 'the canary is out' } });
  const seen: unknown[] = [];
  const onRetry = (error: unknown) => {
    seen.push(error);
    agent.answer = { tier: 'TIER_FMOD_RET', enforcing: true };
  };
  const options = { socketPath: pathOf(agent.address), timeoutMs: LONG, onRetry };
  assert.is((await registerWithAgent(registration, options)).tier, 2);
  await agent.stop();
  assert.is(seen.length, 1);
  assert.match(String(seen[0]), /UNAVAILABLE: the canary is out/);
});

agentTests('absent when the time is up: 69, with the socket and the next step', async () => {
  const { address, remove } = agentAddress();
  const socketPath = pathOf(address);
  const [code, status, error] = await failure(
    registerWithAgent(registration, { socketPath, timeoutMs: 150 }),
  );
  assert.equal([code, status], ['AGENT_UNAVAILABLE', 69]);
  assert.ok(error.message.includes(socketPath));
  assert.match(error.message, /ENOENT/);
  assert.match(error.nextStep, /SVC_EBPF_AGENT_ADDR/);
  await remove();
});

agentTests('hanging when the time is up: 69', () =>
  withAgent('hang', async (socketPath) => {
    const [code, status] = await failure(registerWithAgent(registration, { socketPath, timeoutMs: 150 }));
    assert.equal([code, status], ['AGENT_UNAVAILABLE', 69]);
  }),
);

const refusals = [
  ['PERMISSION_DENIED', 'AGENT_REFUSED', 77],
  ['FAILED_PRECONDITION', 'AGENT_REFUSED', 77],
  ['UNAUTHENTICATED', 'AGENT_REFUSED', 77],
  ['INVALID_ARGUMENT', 'AGENT_POD_UNKNOWN', 78],
  ['UNIMPLEMENTED', 'AGENT_INCOMPATIBLE', 69],
] as const;
for (const [answer, expectedCode, expectedStatus] of refusals) {
  agentTests(`answered ${answer}: ${expectedStatus} at once, asked once`, async () => {
    const agent = await startNodeAgent({ answer: { code: answer, details: 'the process is traced' } });
    const options = { socketPath: pathOf(agent.address), timeoutMs: LONG };
    const [code, status, error] = await failure(registerWithAgent(registration, options));
    await agent.stop();
    assert.equal([code, status], [expectedCode, expectedStatus]);
    assert.match(error.message, /the process is traced/);
    assert.is(agent.requests.length, 1);
  });
}

agentTests('something else on the socket is unavailable, not an agent', async () => {
  const { address, remove } = agentAddress();
  const socketPath = pathOf(address);
  const other = createServer((socket) => socket.on('error', () => undefined).end('220 mail.example\r\n'));
  await new Promise<void>((resolve) => other.listen(socketPath, resolve));
  const [code, status] = await failure(registerWithAgent(registration, { socketPath, timeoutMs: 150 }));
  other.close();
  await remove();
  assert.equal([code, status], ['AGENT_UNAVAILABLE', 69]);
});

agentTests('tier 3 without enforcement is acknowledged, unless enforcement is required: then 71', () =>
  withAgent({ tier: 'TIER_TRACEPOINT', enforcing: false, reason: 'audit\nonly' }, async (socketPath) => {
    const options = { socketPath, timeoutMs: LONG };
    const acknowledgement = await registerWithAgent(registration, options);
    assert.is(acknowledgement.tier, 3);
    assert.is(acknowledgement.enforcing, false);
    assert.is(acknowledgement.reason, 'audit only');
    const strict = { ...registration, requireEnforcement: true };
    const [code, status, error] = await failure(registerWithAgent(strict, options));
    assert.equal([code, status], ['AGENT_NOT_ENFORCING', 71]);
    assert.match(error.message, /audit only/);
  }),
);

agentTests('required enforcement that there is, is accepted and was told to the agent', async () => {
  const agent = await startNodeAgent();
  const options = { socketPath: pathOf(agent.address), timeoutMs: LONG };
  const strict = { ...registration, requireEnforcement: true };
  assert.ok((await registerWithAgent(strict, options)).enforcing);
  await agent.stop();
  assert.is(agent.requests[0]?.message['require_enforcement'], true);
});

agentTests('a stop ends the waiting with its reason', async () => {
  const { address, remove } = agentAddress();
  const stop = new AbortController();
  const reason = new Error('stopping');
  const options = {
    ...{ socketPath: pathOf(address), timeoutMs: LONG, signal: stop.signal },
    onRetry: () => stop.abort(reason),
  };
  const error = await registerWithAgent(registration, options).catch((thrown) => thrown);
  assert.is(error, reason);
  await remove();
});

agentTests.run();
