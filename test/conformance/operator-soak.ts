import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatTable } from '../../bench/harness/table.ts';
import { http } from '../support/http.ts';
import { type OperatorCluster, type Replica, startOperatorCluster } from '../support/operator-cluster.ts';
import { residentMemory } from '../support/process-memory.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Churn, createChurn } from './operator-soak/churn.ts';
import { endStateOf } from './operator-soak/end-state.ts';
import { type Sample, slopeOf } from './operator-soak/slope.ts';
import type { Part, Report } from './part.ts';
import { Random } from './soak/random.ts';
import { inMib } from './support/figures.ts';

const stepEveryMs = 150;
const sampleEveryMs = 2_000;
/** What the slope may come to over the whole run. */
const memoryGrowth = 12 * 1024 ** 2;
const filesGrowth = 6;
/** Of the run: caches and the heap come to their size. */
const warmUpShare = 1 / 3;
const values = { operator: { vaultAddress: 'https://192.0.2.10:8200', ha: true } };

interface Looks {
  readonly replica: Replica;
  readonly memory: Sample[];
  readonly files: number[];
}

/** Two replicas and a cluster that changes all the time; at the end the other one takes over. */
export const operatorSoak: Part = {
  name: 'operator-soak',
  summary: 'the operator under churn of pods, ServiceConfigs and namespaces: nothing missed, no growth',
  async run(report, { minutes, seed }) {
    const cluster = await startOperatorCluster({ controllers: true, replicas: 2, values });
    try {
      await cluster.leader();
      const churn = createChurn(cluster.kubernetes, new Random(`operator-soak ${seed}`));
      const looks = cluster.replicas.map((replica): Looks => ({ replica, memory: [], files: [] }));
      await soak(churn, looks, minutes * 60_000);
      judgeChurn(report, churn);
      await judgeEndState(report, cluster);
      judgeMemory(report, looks, minutes);
    } finally {
      await cluster.stop();
    }
  },
};

async function soak(churn: Churn, looks: readonly Looks[], lastsMs: number): Promise<void> {
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  let nextSample = 0;
  for (let step = 1; elapsed() < lastsMs; step++) {
    await churn.step();
    if (elapsed() >= nextSample) {
      nextSample += sampleEveryMs;
      for (const one of looks) look(one, elapsed());
    }
    await sleep(Math.max(0, step * stepEveryMs - elapsed()));
  }
}

function look({ replica: { pid }, memory, files }: Looks, at: number): void {
  memory.push({ at, value: residentMemory(pid).now });
  files.push(readdirSync(`/proc/${pid}/fd`).length);
}

function judgeChurn(report: Report, { counts, failures }: Churn): void {
  report.say(
    Object.entries(counts)
      .map(([what, count]) => `${count} ${what}`)
      .join(', '),
  );
  report.check('every change is accepted', failures.length === 0, failures.slice(0, 3).join('\n'));
}

async function judgeEndState(report: Report, { kubernetes, leader }: OperatorCluster): Promise<void> {
  const settled = await settledState(report, kubernetes, 'no object is missed');
  const former = await leader();
  await former.end('SIGTERM');
  const next = await waitFor('the other leader', async () => {
    const now = await leader();
    return now !== former && now;
  });
  await waitFor('all controllers to have looked at everything', () => hasSwept(next, settled.namespaces));
  const after = await settledState(report, kubernetes, 'nor by the next leader');
  const changed = [...settled.kept].filter(([name, text]) => after.kept.get(name) !== text);
  const shown = changed.slice(0, 3).map(([name, text]) => `${name}: ${text} → ${after.kept.get(name)}`);
  report.check(
    'the next leader finds nothing to change',
    changed.length === 0,
    `${settled.kept.size} objects ${shown.join('\n')}`,
  );
}

async function settledState(report: Report, kubernetes: OperatorCluster['kubernetes'], what: string) {
  let state = await endStateOf(kubernetes);
  await waitFor(what, async () => {
    state = await endStateOf(kubernetes);
    return state.wrong.length === 0;
  }).catch(() => undefined);
  report.check(
    what,
    state.wrong.length === 0,
    state.wrong.slice(0, 5).join('\n') || `${state.kept.size} objects`,
  );
  return state;
}

/** What a new leader looks at first, by controller, has been gone through. */
async function hasSwept({ started }: Replica, namespaces: number): Promise<boolean> {
  const { text } = await http(`http://${started['metrics']}/metrics`);
  const reconciled = (controller: string) => {
    const line = new RegExp(`^controller_runtime_reconcile_total\\{.*"${controller}".*\\} (\\d+)$`, 'gm');
    return [...text.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  return ['service-config', 'namespace-label', 'egress'].every((name) => reconciled(name) >= namespaces);
}

function judgeMemory(report: Report, looks: readonly Looks[], minutes: number): void {
  const rows = looks.map(({ replica, memory, files }) => {
    const warm = memory.slice(Math.floor(memory.length * warmUpShare));
    const growth = slopeOf(warm) * minutes * 60_000;
    const peak = Math.max(...memory.map(({ value }) => value));
    const grownFiles = (files.at(-1) ?? 0) - (files[Math.floor(files.length * warmUpShare)] ?? 0);
    report.check(`${replica.name}: memory is flat`, growth <= memoryGrowth, `${inMib(growth)} by its slope`);
    report.check(`${replica.name}: descriptors do not grow`, grownFiles <= filesGrowth, `${grownFiles} more`);
    const [first, last] = [warm[0]?.value ?? 0, warm.at(-1)?.value ?? 0];
    return { name: replica.name, cells: [inMib(first), inMib(last), inMib(peak), inMib(growth)] };
  });
  const columns = ['resident after a third', 'at the end', 'peak', 'slope over the run'];
  report.say(formatTable({ title: 'Operators under churn', columns, rows }));
}
