import { suite } from 'uvu';
import { expectUndisturbed } from './support/expect-view.ts';
import { startKeyServer } from './support/key-server.ts';
import { startEnforcing } from './support/machine.ts';
import { thisMachine } from './support/this-machine.ts';
import { runView } from './support/view.ts';

const test = suite('application and wrapper under protection, on tier 3');

test('see and do what they do without it', async () => {
  const [machine, keys] = [await thisMachine(), await startKeyServer()];
  const agent = await startEnforcing(machine);
  try {
    expectUndisturbed(await runView(machine, keys, agent), 3);
  } finally {
    await agent.stop();
    await keys.stop();
    await machine.stop();
  }
});

test.run();
