import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patient } from '../../../support/patience.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { readyReplicas, startBed, withdraw } from './support/bed.ts';
import { shown, startLoad } from './support/load.ts';

const test = suite('a replica ends under load');
export const timeout = 240_000;

const perSecond = 50;
const aroundMs = repetitions(2_500, 4_000);
/** How long an API server may go on dialling a replica that has ended. */
const unawareMs = 1_000;
/** How long its watch of the endpoints may lag behind what the API itself says. */
const watchLagMs = 1_000;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 3 });
});

test.after(() => bed?.stop());

async function underLoad(fault: () => Promise<unknown>) {
  const load = startLoad(bed.kubernetes, bed.namespace, perSecond);
  await sleep(aroundMs);
  await fault();
  await sleep(aroundMs);
  return load.stop();
}

test('SIGTERM of the leader fails no admission, though it is dialled for a second more', async () => {
  const leader = await bed.leader();
  const tally = await underLoad(async () => {
    const ended = leader.kill('SIGTERM');
    await sleep(unawareMs);
    await withdraw(bed, leader);
    assert.is((await ended).code, 0);
  });
  console.log(`SIGTERM: ${shown(tally)}`);
  assert.equal(tally.failed, [], shown(tally));
  // On a busy machine the API server may take longer than the second for which a leader tries: its lease then expires.
  const farewells = ['leader.released', 'leader.release.failed'].flatMap((event) => leader.events(event));
  assert.is(farewells.length, 1);
  await waitFor('another leader', async () => (await bed.leader()).name !== leader.name);
});

test('SIGKILL fails only what was in flight, or dialled before the Service forgot it', async () => {
  await bed.add();
  await readyReplicas(bed, 3);
  const leader = await bed.leader();
  let forgotten = 0;
  const tally = await underLoad(async () => {
    const ended = leader.kill('SIGKILL');
    await sleep(unawareMs);
    await withdraw(bed, leader);
    forgotten = performance.now();
    await ended;
  });
  console.log(`SIGKILL: ${shown(tally)}`);
  for (const { at, message } of tally.failed) {
    assert.match(message, /EOF|connection reset by peer|broken pipe|connection refused/);
    assert.ok(
      at < forgotten + patient(watchLagMs),
      `one that came ${(at - forgotten).toFixed(0)} ms later failed: ${message}`,
    );
  }
});

test('SIGKILL fails only what was in flight where the Service forgets it at once', async () => {
  await bed.add();
  await readyReplicas(bed, 3);
  const leader = await bed.leader();
  const killed = performance.now();
  const tally = await underLoad(() => leader.end('SIGKILL'));
  console.log(`SIGKILL, forgotten at once: ${shown(tally)}`);
  const late = tally.failed.filter(({ at }) => at > killed + aroundMs + patient(watchLagMs));
  assert.equal(late, []);
});

test.run();
