import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { assertComplete } from './support/expectation.ts';
import { type FloodRecord, flood, tallyOf } from './support/flood.ts';
import { type NativeRig, startNativeRig } from './support/native-rig.ts';

interface Context {
  rig: NativeRig;
}

/** On the tier of this machine, which sees and does not end who tries. */
const test = suite<Context>('10,000 hits a second at the real agent');
const rate = { perSecond: 10_000, seconds: 10 };

test.before.each(async (context) => {
  context.rig = await startNativeRig();
});
test.after.each(({ rig }) => rig.stop());

/** Who floods, as the kernel names it. */
const commOf = ({ bypass }: NativeRig) => basename(bypass).slice(0, 15);

/** What the operator was told of who floods, and of others on this host, whom the agent sees as well. */
function toldOf(rig: NativeRig): { own: number; others: number } {
  const isOwn = ({ source }: { source: { comm: string } | null }) => source?.comm === commOf(rig);
  const own = rig.operator.hits.filter(isOwn).reduce((sum, { count }) => sum + Number(count), 0);
  return { own, others: rig.operator.hitCount() - own };
}

/** Whole floods of hits on a process that registered, and one of another process, which is counted beside them. */
async function floodOf({ agent, operator, bypass, place }: NativeRig) {
  const covered = await place();
  assert.is(await covered.protect(), undefined);
  const metrics = async () => (await http(`${agent.health}/metrics`)).text;
  const flooded = { pid: agent.pid, metrics, output: agent.output };
  const other = sleep(1_000).then(() => readFile(`/proc/${covered.pid}/environ`));
  const record = await flood(flooded, { bypass, pid: covered.pid, ...rate });
  await other;
  // others of this host go on meanwhile: all of it is looked at when nothing is under way between the three
  const agreed = await waitFor(
    'metrics, log and operator to agree',
    async () => {
      const told = operator.hitCount();
      const tally = await tallyOf(flooded);
      const isSame = tally.counted === told && tally.hitLines + tally.more === told;
      return isSame && operator.hitCount() === told && tally;
    },
    { timeoutMs: 20_000 },
  ).catch(() => tallyOf(flooded));
  return { ...record, ...agreed, counted: agreed.counted - record.earlier } satisfies FloodRecord;
}

test('all arrive, in the metrics and at the operator', async ({ rig }) => {
  const record = await floodOf(rig);
  const { own, others } = toldOf(rig);
  assertComplete(record, others);
  assert.is(record.attempts, rate.perSecond * rate.seconds);
  assert.is(own, record.attempts);
  assert.is(rig.operator.reports.at(-1).droppedHits, '0');
  assert.ok(rig.operator.hits.length < 1_000, `${rig.operator.hits.length} hits were told`);
});

test('all arrive with an operator that goes away and comes back', async ({ rig }) => {
  const { operator } = rig;
  const flooding = floodOf(rig);
  for (let absence = 0; absence < 2; absence++) {
    await sleep(2_000);
    operator.down();
    await sleep(2_000);
    await operator.up();
  }
  const record = await flooding;
  const { own, others } = toldOf(rig);
  assertComplete(record, others);
  assert.is(own, record.attempts);
  assert.is(operator.reports.at(-1).droppedHits, '0');
});

test.run();
