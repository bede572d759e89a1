import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createObservation } from '../../../../src/plugins/wrapper/observation.ts';
import type { PreparedApplication } from '../../../../src/plugins/wrapper/prepare-application.ts';
import { Runner } from '../../../../src/plugins/wrapper/runner.ts';
import type { Application, Ending, Supervisor } from '../../../../src/plugins/wrapper/supervise/index.ts';
import { createLogger } from '../../../../src/runtime/logging/create-logger.ts';
import { type PlainMemory, plainMemory } from '../../../support/plain-memory.ts';

class FakeApplication implements Application {
  readonly #over = Promise.withResolvers<Ending>();
  readonly pid: number;
  readonly signals: string[] = [];
  endRequest: string | undefined;

  constructor(pid: number) {
    this.pid = pid;
  }

  get ended(): Promise<Ending> {
    return this.#over.promise;
  }

  signal(name: string): void {
    this.signals.push(name);
  }

  stop(): Promise<Ending> {
    this.end(143);
    return this.ended;
  }

  end(exitCode: number): void {
    this.#over.resolve({ pid: this.pid, exitCode });
  }
}

interface Context {
  memory: PlainMemory;
  started: FakeApplication[];
  interruption: AbortController;
  /** What happens when everything below the wrapper is to end. */
  onEnd: () => void;
  /** What happens at a start. */
  onStart: () => void;
  runner: Runner;
}

const test = suite<Context>('runner of the application');

test.before.each((context) => {
  const started: FakeApplication[] = [];
  const supervisor: Supervisor = {
    start() {
      context.onStart();
      const application = new FakeApplication(100 + started.length);
      started.push(application);
      return application;
    },
    async end() {
      context.onEnd();
    },
  };
  const log = createLogger({ component: 'test', sink: { write: () => undefined } });
  const interruption = new AbortController();
  const settings = { stopGrace: 10, rotation: 'restart' } as const;
  const common = { supervisor, settings, log, observation: createObservation() };
  const runner = new Runner({ ...common, interrupted: interruption.signal, onStart: () => undefined });
  Object.assign(context, { memory: plainMemory(), started, interruption, runner });
  Object.assign(context, { onEnd: () => undefined, onStart: () => undefined });
});

function prepared(memory: PlainMemory): PreparedApplication {
  const region = memory.allocate(4096);
  const launch = { file: 'app', args: [], env: [], memory };
  return { launch, region, shared: false, replaced: [] };
}

test('resolves with the end of an application that was not told to', async ({ runner, memory, started }) => {
  runner.start(prepared(memory));
  started[0]?.end(3);
  assert.equal(await runner.ended, { pid: 100, exitCode: 3 });
});

test('starts another one with other secrets, and goes on', async ({ runner, memory, started }) => {
  runner.start(prepared(memory));
  assert.is(await runner.restart(prepared(memory)), true);
  assert.is(started.length, 2);
  started[1]?.end(4);
  assert.is((await runner.ended).pid, 101);
  assert.is(memory.held(), 0);
});

test('starts none in place of one that has ended by itself', async ({ runner, memory, started }) => {
  runner.start(prepared(memory));
  started[0]?.end(3);
  await runner.ended;
  assert.is(await runner.restart(prepared(memory)), false);
  assert.is(started.length, 1);
  assert.is(memory.held(), 0);
});

test('starts none once the wrapper was told to end meanwhile', async (context) => {
  const { runner, memory, started, interruption } = context;
  runner.start(prepared(memory));
  context.onEnd = () => interruption.abort();
  assert.is(await runner.restart(prepared(memory)), false);
  assert.is((await runner.ended).exitCode, 143);
  assert.is(started.length, 1);
  assert.is(memory.held(), 0);
});

test('starts none where somebody asked the application to end', async ({ runner, memory, started }) => {
  runner.start(prepared(memory));
  Object.assign(started[0] as FakeApplication, { endRequest: 'SIGTERM' });
  assert.is(await runner.restart(prepared(memory)), false);
  assert.is((await runner.ended).pid, 100);
});

for (const hook of ['onEnd', 'onStart'] as const) {
  test(`tells of a failure during a restart instead of waiting for ever (${hook})`, async (context) => {
    const { runner, memory } = context;
    runner.start(prepared(memory));
    context[hook] = () => {
      throw new Error('cannot');
    };
    assert.is(await runner.restart(prepared(memory)), false);
    assert.is(await runner.ended.catch((error: Error) => error.message), 'cannot');
    runner.close();
    assert.is(memory.held(), 0);
  });
}

test.run();
