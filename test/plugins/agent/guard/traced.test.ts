import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tracedSteps } from '../../../../src/plugins/agent/guard/descendants.ts';
import { createTurns, takeInTurns } from '../../../../src/runtime/lifecycle/turns.ts';
import { launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';

const test = suite('looking for a debugger');

/** As many groups as a process may have, for which the kernel writes 700 KB each time, and threads by the dozen. */
const crowd = `
  process.setgroups(Array.from({ length: 65_536 }, (_, index) => 4_000_000_000 + index));
  require('node:fs').stat('/', () => console.log('ready'));
  setInterval(() => {}, 1_000);
`;

test('holds up nobody else, whatever a process has the kernel write', async () => {
  const env = cleanEnv({ UV_THREADPOOL_SIZE: '64' });
  const child = await launch(process.execPath, ['-e', crowd], { env });
  try {
    await child.until('its groups', () => child.logs().includes('ready'));
    const nextTurn = createTurns();
    let turns = 0;
    const counted = () => {
      turns += 1;
      return nextTurn();
    };
    assert.is(await takeInTurns(tracedSteps(child.pid), counted, () => {}), false);
    assert.ok(turns >= 8, `${turns} turns`);
  } finally {
    await child.stop();
  }
});

test.run();
