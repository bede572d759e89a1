import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  decodeAcknowledgement,
  encodeRegistration,
} from '../../../../src/plugins/wrapper/agent/agent-client.ts';
import { unaryCall } from '../../../../src/plugins/wrapper/agent/grpc-call.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { enforcing } from './support/fake-guard.ts';
import { registration } from './support/messages.ts';
import { registerCall } from './support/raw-call.ts';
import { type Served, withServed } from './support/served.ts';
import { type SlowGuard, slowGuard } from './support/slow-guard.ts';

const test = suite('registrations that callers give up');

/** Long enough for the agent to begin. */
const shortMs = 150;

interface Scene {
  readonly served: Served;
  readonly guard: SlowGuard;
  /** The tier that is answered, or the status of the error. */
  ask(timeoutMs?: number): Promise<number | string>;
}

async function withSlow(work: (scene: Scene) => Promise<void>, keepMs = 60_000): Promise<void> {
  const guard = slowGuard();
  await withServed((served) => work({ served, guard, ask: (timeoutMs) => ask(served, timeoutMs) }), {
    ...{ guard, keepMs },
  });
}

async function ask({ socketPath }: Served, timeoutMs = 30_000): Promise<number | string> {
  const method = '/svc.agent.v1.NodeAgent/Register';
  const request = encodeRegistration(registration);
  try {
    return decodeAcknowledgement(await unaryCall({ socketPath, method, request, timeoutMs })).tier;
  } catch (error) {
    return (error as { status: string }).status;
  }
}

/** Begun, and given up as the agent has noticed. */
async function giveUp({ ask, served }: Scene, times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) assert.is(await ask(shortMs), 'DEADLINE_EXCEEDED');
  await waitFor('the agent to notice', async () => (await countOf(served, 'given_up')) === times);
}

async function countOf({ metrics }: Served, outcome: string): Promise<number> {
  const [line] = await metrics(`svc_agent_registrations_total{outcome="${outcome}"}`);
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('a process that asks again waits for what is under way', () =>
  withSlow(async (scene) => {
    const { guard, served, ask } = scene;
    await giveUp(scene, 3);
    const [answer, another] = [ask(), ask()];
    await sleep(50);
    assert.equal(served.registered(), []);
    assert.equal([guard.walks.length, guard.protected.length], [1, 0]);
    guard.walks[0]?.finish();
    assert.equal(await Promise.all([answer, another]), [1, 1]);
    assert.is(guard.walks.length, 1);
    assert.is(served.registered().length, 1);
    assert.is(await countOf(served, 'registered'), 2);
  }));

test('what came of it while nobody waited is the next answer', () =>
  withSlow(async (scene) => {
    const { guard, served, ask } = scene;
    await giveUp(scene);
    guard.walks[0]?.finish();
    assert.is(await ask(), 1);
    assert.is(guard.walks.length, 1);
    assert.is(served.log.filter(({ event }) => event === 'registered').length, 1);
  }));

test('nothing that was found before counts where another tier is in force by now', () =>
  withSlow(async (scene) => {
    const { guard, ask } = scene;
    await giveUp(scene);
    guard.walks[0]?.finish();
    await sleep(1);
    guard.status = { ...enforcing, tier: 2 };
    assert.is(await ask(shortMs), 'DEADLINE_EXCEEDED');
    assert.is(guard.walks.length, 2);
  }));

test('who is traced, or another, when it comes for the answer is refused', async () => {
  const changes: Partial<SlowGuard>[] = [{ traced: true }, { facts: () => undefined }];
  for (const change of changes) {
    await withSlow(async (scene) => {
      await giveUp(scene);
      scene.guard.walks[0]?.finish();
      await sleep(1);
      Object.assign(scene.guard, change);
      assert.is(await scene.ask(), 'FAILED_PRECONDITION');
    });
  }
});

test('ends when the process does not come back', () =>
  withSlow(async (scene) => {
    await giveUp(scene);
    await waitFor('the end of the walk', () => scene.guard.walks[0]?.signal.aborted);
    assert.is(await scene.ask(shortMs), 'DEADLINE_EXCEEDED');
    assert.is(scene.guard.walks.length, 2);
  }, 100));

test('a flood of them is one walk, told of in a few lines', () =>
  withSlow(async ({ guard, served, ask }) => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(100)));
    assert.ok(answers.every((answer) => typeof answer === 'string'));
    assert.is(guard.walks.length, 1);
    await waitFor('the end of all', async () => (await countOf(served, 'given_up')) > 0);
    const lines = served.log.filter(({ event }) => event === 'registration.refused');
    assert.ok(lines.length <= 50, String(lines.length));
  }));

const hangsUp = `
  const socket = require('node:net').connect(process.argv[1], () =>
    socket.write(Buffer.from(process.argv[2], 'hex'), () => process.exit()));`;

test('who has hung up before the agent comes to it costs nothing', () =>
  withSlow(async ({ guard, served }) => {
    const { inspect } = guard;
    const inspected: number[] = [];
    guard.inspect = (pid) => {
      inspected.push(pid);
      return inspect(pid);
    };
    // this process, which is the agent, stands still meanwhile
    spawnSync(process.execPath, ['-e', hangsUp, served.socketPath, registerCall.toString('hex')]);
    await sleep(300);
    assert.equal(inspected, []);
  }));

test('callers that wait when the agent ends are told so', async () => {
  let answer: Promise<number | string> | undefined;
  await withSlow(async ({ guard, ask }) => {
    answer = ask();
    await waitFor('the walk', () => guard.walks.length === 1);
  });
  assert.is(await answer, 'UNAVAILABLE');
});

test.run();
