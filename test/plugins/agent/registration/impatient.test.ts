import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { protectIncrementally } from '../../../../src/plugins/agent/guard/create-guard.ts';
import { createTurns } from '../../../../src/runtime/lifecycle/turns.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { fakePrograms } from '../guard/support/fake-programs.ts';
import { fakeGuard } from './support/fake-guard.ts';
import { withServed } from './support/served.ts';

const test = suite('registration of a caller that waits for less than it takes');
const FIXTURE = fileURLToPath(new URL('./fixtures/impatient.ts', import.meta.url));
const clock = new Int32Array(new SharedArrayBuffer(4));
const children = 24;
const stepMs = 25;

/** What it says of itself, and of its descendants. */
async function registered(socketPath: string): Promise<{ line: string; end(): Promise<unknown> }> {
  const args = [FIXTURE, socketPath, String(children), String((children * stepMs) / 2)];
  const child = spawn(process.execPath, args, { env: cleanEnv(), stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const end = () => {
    child.stdin.end();
    return exited;
  };
  return { line, end };
}

test('is answered, once all of its descendants are covered', async () => {
  const [guard, programs, nextTurn] = [fakeGuard(), fakePrograms(), createTurns()];
  programs.onAsk = () => void Atomics.wait(clock, 0, 0, stepMs);
  guard.facts = (facts) => ({ ...facts, covered: programs.isCovered(facts.pid) });
  guard.protectInTurns = (pid, signal) =>
    protectIncrementally(programs.set, () => programs.set, { pid, nextTurn, signal });
  await withServed(
    async ({ socketPath }) => {
      const { line, end } = await registered(socketPath);
      const caller: { children: number[]; answered: boolean; tries: number } = JSON.parse(line);
      const covered = caller.children.filter(programs.isCovered);
      await end();
      assert.ok(caller.answered, line);
      assert.ok(caller.tries > 1, line);
      assert.is(covered.length, children);
      const asked = programs.asked.filter((each) => each.startsWith('protect'));
      assert.is(asked.length, 1 + children);
    },
    { guard },
  );
});

test.run();
