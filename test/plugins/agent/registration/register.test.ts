import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ProcessFacts } from '../../../../src/plugins/agent/guard/contract.ts';
import { registerWithAgent } from '../../../../src/plugins/wrapper/agent/register.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { checkPrefix, ordinaryUser, pidNamespace } from '../../wrapper/support/confined.ts';
import { type CallerOptions, startCaller } from './support/callers.ts';
import { enforcing, fakeGuard, startOf } from './support/fake-guard.ts';
import { POD, registration } from './support/messages.ts';
import { registerCall } from './support/raw-call.ts';
import { type Served, withServed } from './support/served.ts';

export const slow = true;

checkPrefix(ordinaryUser, pidNamespace);

const test = suite('registration');
const registrations = 'svc_agent_registrations_total{';
/** Time to be asked at least once on a busy machine; a refusal that may pass is asked again until then. */
const shortlyMs = 4_000;
const inPod = (uid: string) => () => `0::/kubepods/burstable/pod${uid}/c1\n`;

/** Registers this very process; the error's message where it is refused. */
function registerSelf({ socketPath }: Served, podUid = '', timeoutMs = 10_000) {
  return registerWithAgent({ ...registration, podUid }, { socketPath, timeoutMs }).catch(
    (error: Error) => error.message,
  );
}

async function refused(served: Served, pattern: RegExp, outcome: string, podUid = '') {
  assert.match(String(await registerSelf(served, podUid)), pattern);
  assert.ok(await counted(served, outcome));
  assert.equal(served.registered(), []);
}

async function counted({ metrics }: Served, outcome: string): Promise<boolean> {
  const lines = await metrics(registrations);
  return lines.some((line) => line.includes(`outcome="${outcome}"`) && !line.endsWith(' 0'));
}

test('protects the process that calls, and says by what', () =>
  withServed(async (served) => {
    assert.equal(await registerSelf(served), {
      ...{ registeredPid: process.pid, tier: 1, enforcing: true, agentVersion: '1.2.3', reason: '' },
    });
    assert.equal(served.guard.protected, [process.pid]);
    assert.equal(served.registered(), [{ pid: process.pid, start: startOf(process.pid) }]);
    const [line] = served.log.filter(({ event }) => event === 'registered');
    const comm = readFileSync('/proc/self/comm', 'utf8').trim();
    assert.equal(line?.fields, {
      ...{ pid: process.pid, pod: undefined, comm, version: '0.1.0', tier: 'lsm', enforcing: true },
    });
    assert.ok(await counted(served, 'registered'));
    assert.equal(await served.metrics('svc_agent_registration_seconds_count'), [
      'svc_agent_registration_seconds_count 1',
    ]);
  }));

test('once more from the same process is harmless, and no news', () =>
  withServed(async (served) => {
    await registerSelf(served);
    await registerSelf(served);
    assert.is(served.registered().length, 1);
    assert.is(served.log.filter(({ event }) => event === 'registered').length, 1);
  }));

test('takes the pod from the cgroup, which the caller may name', () =>
  withServed(
    async (served) => {
      assert.is(((await registerSelf(served, POD)) as { tier: number }).tier, 1);
      assert.is(served.log.at(-1)?.fields['pod'], POD);
    },
    { readCgroups: inPod(POD) },
  ));

test('refuses who names another pod, or a pod outside of any', async () => {
  for (const read of [inPod(POD.replace('6', '7')), () => '0::/\n']) {
    await withServed((served) => refused(served, /PERMISSION_DENIED: .*by its cgroup/, 'wrong_pod', POD), {
      readCgroups: read,
    });
  }
});

test('refuses what is no UID', () =>
  withServed(async (served) => {
    for (const uid of [`${POD}x`, 'demo', '../..', POD.toUpperCase(), '*'])
      await refused(served, /INVALID_ARGUMENT/, 'invalid_pod_uid', uid);
    assert.equal(served.guard.protected, []);
  }));

test('refuses who is traced', async () => {
  const guard = fakeGuard();
  guard.traced = true;
  await withServed((served) => refused(served, /FAILED_PRECONDITION: .*traced/, 'traced'), { guard });
});

test('refuses who began to be traced while it was being protected', async () => {
  const guard = fakeGuard();
  guard.onProtect = () => {
    guard.traced = true;
  };
  await withServed((served) => refused(served, /FAILED_PRECONDITION: .*traced/, 'traced'), { guard });
});

test('takes who had been opened where open descriptors are checked, and warns', async () => {
  for (const tier of [1, 2, 3] as const) {
    const guard = fakeGuard({ ...enforcing, tier });
    guard.facts = (facts) => ({ ...facts, openedBefore: true });
    await withServed(
      async (served) => {
        assert.is(((await registerSelf(served)) as { tier: number }).tier, tier);
        assert.ok(
          served.log.some(({ level, event }) => level === 'warn' && event === 'registered.opened_before'),
        );
      },
      { guard },
    );
  }
});

test('refuses who had been opened where nothing checks that', async () => {
  const guard = fakeGuard({ ...enforcing, tier: 4, enforcing: false, reason: 'none' });
  guard.facts = (facts) => ({ ...facts, openedBefore: true });
  await withServed((served) => refused(served, /FAILED_PRECONDITION: .*opened/, 'opened_before'), { guard });
});

test('says that nothing is enforced, and why', async () => {
  for (const tier of [1, 3, 4] as const) {
    const guard = fakeGuard({ tier, enforcing: false, reason: 'It only audits.', passedOver: [] });
    await withServed(
      async (served) => {
        assert.equal(await registerSelf(served), {
          ...{ registeredPid: process.pid, tier, enforcing: false, agentVersion: '1.2.3' },
          reason: 'It only audits.',
        });
      },
      { guard },
    );
  }
});

test('a wrapper waits for an agent that is not ready', async () => {
  const guard = fakeGuard({ ...enforcing, tier: undefined });
  await withServed(
    async (served) => {
      const waiting = registerSelf(served, '', 60_000);
      while (!(await counted(served, 'not_ready'))) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal(guard.protected, []);
      guard.status = enforcing;
      assert.is(((await waiting) as { tier: number }).tier, 1);
      const refusals = served.log.filter(({ event }) => event === 'registration.refused');
      assert.ok(refusals.every(({ level }) => level === 'debug'));
    },
    { guard },
  );
});

test('never registers another process that was given the PID', async () => {
  const changes: ((facts: ProcessFacts) => ProcessFacts | undefined)[] = [
    (facts) => ({ ...facts, start: facts.start + 10_000_000n }),
    () => undefined,
  ];
  for (const change of changes) {
    const guard = fakeGuard();
    const readCgroups = () => {
      guard.facts = change;
      return '0::/\n';
    };
    await withServed(
      async (served) => {
        await refused(served, /FAILED_PRECONDITION: .*has ended/, 'gone');
        assert.equal(guard.protected, []);
      },
      { guard, readCgroups },
    );
  }
});

test('does not list a process that was replaced while it was being protected', async () => {
  const guard = fakeGuard();
  guard.onProtect = () => {
    guard.facts = (facts) => ({ ...facts, start: facts.start + 10_000_000n });
  };
  await withServed((served) => refused(served, /FAILED_PRECONDITION: .*has ended/, 'gone'), { guard });
});

test('a guard that is full is asked again, one that fails is told of', async () => {
  const guard = fakeGuard();
  await withServed(
    async (served) => {
      guard.onProtect = () => {
        throw Object.assign(new Error('full'), { code: 'GUARD_FULL' });
      };
      assert.match(String(await registerSelf(served, '', shortlyMs)), /RESOURCE_EXHAUSTED/);
      guard.onProtect = () => {
        throw new Error('the map is gone');
      };
      assert.match(String(await registerSelf(served, '', shortlyMs)), /INTERNAL: (?!.*map)/);
      const [failure] = served.log.filter(({ level }) => level === 'error');
      assert.match(String(failure?.fields['error']), /the map is gone/);
    },
    { guard },
  );
});

test('the time ends in the middle of an attempt: what was said before is the reason', async () => {
  const guard = fakeGuard();
  await withServed(
    async (served) => {
      guard.onProtect = () => {
        guard.protectInTurns = () => new Promise(() => undefined);
        throw Object.assign(new Error('full'), { code: 'GUARD_FULL' });
      };
      assert.match(String(await registerSelf(served, '', shortlyMs)), /RESOURCE_EXHAUSTED/);
    },
    { guard },
  );
});

test('a guard that covers nothing is not believed', async () => {
  const guard = fakeGuard();
  guard.facts = (facts) => ({ ...facts, covered: false });
  await withServed(
    async (served) => assert.match(String(await registerSelf(served, '', shortlyMs)), /INTERNAL/),
    {
      guard,
    },
  );
});

/** What another process is answered. */
async function byAnother(options: CallerOptions, look: (served: Served, pid: number) => void): Promise<void> {
  await withServed(async (served) => {
    const caller = await startCaller(served.socketPath, options);
    try {
      const [answer] = caller.answers;
      assert.is(answer.tier, 1, String(answer));
      look(served, answer.registeredPid);
    } finally {
      await caller.end();
    }
    assert.equal(served.registered(), []);
  });
}

test('knows another process by its own PID, until it ends', () =>
  byAnother({}, ({ guard, registered }, pid) => {
    assert.is.not(pid, process.pid);
    assert.equal(guard.protected, [pid]);
    assert.is(registered()[0]?.pid, pid);
  }));

test('knows a process of another PID namespace by the PID that the agent sees', () =>
  byAnother({ under: pidNamespace }, (_, pid) => {
    const numbers = /^NSpid:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    assert.equal(numbers?.split('\t'), [String(pid), '1']);
  }));

test('takes an ordinary user without any right', () =>
  byAnother({ under: ordinaryUser }, (_, pid) => {
    assert.match(readFileSync(`/proc/${pid}/status`, 'latin1'), /^Uid:\t65534/m);
  }));

/** Registers, and hands the connection down to a process that stays. */
const leavesAnHeir = `
  const socket = require('node:net').connect(process.argv[1], () => {
    socket.write(Buffer.from(process.argv[2], 'hex'));
    const stdio = ['ignore', 'ignore', 'ignore', socket._handle.fd];
    require('node:child_process').spawn('sleep', ['60'], { stdio, detached: true });
  });`;

/**
 * Ends a process once it has a child, and waits until its parent has reaped it, all in this turn of the event loop.
 * @returns the child
 */
function endNow(pid: number): number {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let heir = 0;
  while (heir === 0) {
    Atomics.wait(clock, 0, 0, 5);
    heir = Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'), 10) || 0;
  }
  process.kill(pid, 'SIGKILL');
  while (existsSync(`/proc/${pid}`)) Atomics.wait(clock, 0, 0, 5);
  return heir;
}

test('never takes another process for a caller that is gone, though its connection stands', async () => {
  const guard = fakeGuard();
  let heir: number | undefined;
  guard.inspect = (pid) => {
    heir ??= endNow(pid);
    return { pid, start: 1n, cgroup: 1n, openedBefore: false, covered: true };
  };
  guard.protect = (pid) => {
    guard.protected.push(pid);
    return guard.inspect(pid) as ProcessFacts;
  };
  const work = async (served: Served) => {
    const caller = [process.execPath, '-e', leavesAnHeir, served.socketPath, registerCall.toString('hex')];
    spawn('sh', ['-c', '"$@" & wait', 'sh', ...caller], { stdio: 'ignore' });
    await waitFor('the judgement', async () => (await served.metrics(registrations)).length > 0);
    process.kill(heir as number, 'SIGKILL');
    assert.ok(await counted(served, 'gone'));
    assert.equal(guard.protected, []);
  };
  await withServed(work, { guard, readCgroups: () => '0::/\n' });
});

test('200 at once, of many processes', () =>
  withServed(async (served) => {
    const callers = await Promise.all(
      Array.from({ length: 20 }, () => startCaller(served.socketPath, { count: 10 })),
    );
    for (const { pid, answers } of callers) {
      assert.is(answers.length, 10);
      for (const answer of answers) assert.is(answer.registeredPid, pid, String(answer));
    }
    assert.is(served.registered().length, 20);
    await Promise.all(callers.map((caller) => caller.end()));
  }));

test.run();
