import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from '../../bench/harness/median.ts';
import { formatTable } from '../../bench/harness/table.ts';
import { type Bed, startBed } from '../plugins/wrapper/support/bed.ts';
import { http } from '../support/http.ts';
import type { WrapperRun } from '../support/svc-wrapper.ts';
import type { Part, Report } from './part.ts';
import { inMib } from './support/figures.ts';

/** What may be more at the end than after the first quarter. */
const memoryGrowth = 3 * 1024 ** 2;
const filesGrowth = 2;
const changeEveryMs = 700;
const sealedEveryMs = 60_000;
const sealedForMs = 3_000;

interface ProcessSample {
  readonly privateDirty: number;
  readonly files: number;
}

interface Soaked {
  readonly name: string;
  readonly run: WrapperRun;
  readonly samples: ProcessSample[];
}

/** Wrappers whose secrets change at every renewal, while the key server is sealed now and then. */
export const wrapperSoak: Part = {
  name: 'wrapper-soak',
  summary: 'wrappers under rotation for some minutes: nothing mixed, nothing lost, no growth',
  async run(report, { minutes }) {
    const bed = await startBed();
    try {
      const soaked = await start(bed);
      const changes = await changeUntil(bed, soaked, performance.now() + minutes * 60_000);
      for (const one of soaked) await judge(report, one, changes);
      show(report, soaked);
    } finally {
      await bed.stop();
    }
  },
};

async function start(bed: Bed): Promise<Soaked[]> {
  await write(bed, 0);
  const env = { RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'sighup', SVC_DELIVERY: 'fd' };
  const entries = { [`Node ${process.versions.node}`]: undefined, ...shippedFolder() };
  const starting = Object.entries(entries).map(async ([name, entry]) => {
    const more = entry === undefined ? {} : { entry };
    const run = await bed.run({ paths: ['secret/soak'], env, vault: bed.withKubernetes, ...more });
    await run.says(/^APP /m);
    return { name, run, samples: [] };
  });
  return Promise.all(starting);
}

/** The self-contained folder, where it was made: started by its own loader, since it does not lie at /svc. */
function shippedFolder(): Record<string, readonly string[]> {
  const folder = fileURLToPath(new URL(`../../build/svc-wrapper-${process.arch}/svc`, import.meta.url));
  if (!existsSync(folder)) return {};
  const loader = readdirSync(join(folder, 'lib')).find((name) => name.startsWith('ld-')) ?? '';
  return {
    'shipped folder': [join(folder, 'lib', loader), join(folder, 'bin/node'), join(folder, 'svc-wrapper')],
  };
}

/** Each value repeats its number, so that a mixture shows. */
const write = (bed: Bed, number: number) =>
  bed.kv.put('soak', { A: `${number},`.repeat(20), B: `${number};`.repeat(30) });

async function changeUntil(bed: Bed, soaked: readonly Soaked[], end: number): Promise<number> {
  let number = 0;
  let seal = performance.now() + sealedEveryMs / 2;
  while (performance.now() < end) {
    await write(bed, ++number);
    await sleep(changeEveryMs);
    for (const { run, samples } of soaked) if (!run.ended) samples.push(sampleOf(run.pid));
    if (performance.now() < seal) continue;
    seal += sealedEveryMs;
    await bed.bao.seal();
    await sleep(sealedForMs);
    await bed.bao.unseal();
  }
  return number;
}

function sampleOf(pid: number): ProcessSample {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const dirty = Number(/^Private_Dirty:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024;
  return { privateDirty: dirty, files: readdirSync(`/proc/${pid}/fd`).length };
}

async function judge(report: Report, { name, run, samples }: Soaked, changes: number): Promise<void> {
  report.check(`${name}: is alive`, !run.ended, run.ended ? run.output().slice(-500) : '');
  const shown = [...run.output().matchAll(/^APP (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  const mixed = shown.filter(({ descriptor: { A, B } }) => !isWhole(A, B)).length;
  report.check(`${name}: every read is one generation`, mixed === 0, `${mixed} of ${shown.length} are not`);
  report.check(
    `${name}: changes arrive`,
    shown.length > changes / 4,
    `${shown.length} renewals of ${changes} changes`,
  );
  const [quarter, last] = [middle(samples, 0.25), middle(samples, 1)];
  const grown = last.privateDirty - quarter.privateDirty;
  report.check(`${name}: memory does not grow`, grown <= memoryGrowth, `${inMib(grown)} more`);
  report.check(`${name}: descriptors do not grow`, last.files - quarter.files <= filesGrowth);
  if (!run.ended) {
    const { status, json } = await http(`${await run.health()}/healthz`);
    report.check(`${name}: answers`, status === 200, json?.status);
  }
}

function isWhole(a: string, b: string): boolean {
  const number = a.slice(0, a.indexOf(','));
  return a === `${number},`.repeat(20) && b === `${number};`.repeat(30);
}

/** The middle values of a fifth of the samples that ends at `fraction` of them. */
function middle(samples: readonly ProcessSample[], fraction: number): ProcessSample {
  const end = Math.max(1, Math.ceil(samples.length * fraction));
  const some = samples.slice(Math.max(0, end - Math.ceil(samples.length / 5)), end);
  return {
    privateDirty: median(some.map(({ privateDirty }) => privateDirty)),
    files: median(some.map(({ files }) => files)),
  };
}

function show(report: Report, soaked: readonly Soaked[]): void {
  const rows = soaked.map(({ name, samples }) => {
    const [quarter, last] = [middle(samples, 0.25), middle(samples, 1)];
    return { name, cells: [inMib(quarter.privateDirty), inMib(last.privateDirty), last.files] };
  });
  const columns = ['private dirty, first quarter', 'at the end', 'descriptors'];
  report.say(formatTable({ title: 'Wrappers under rotation', columns, rows }));
}
