import { createMemoryCgroup } from '../test/support/limit-cgroup.ts';
import type { Bench, Row, Table } from './harness/bench.ts';
import type { Contender } from './proxy/contender.ts';
import { type Bed, bucket, type ContenderName, startBed } from './proxy/contenders.ts';
import type { Job } from './proxy/job.ts';
import { type LoadProcess, startLoadProcess } from './proxy/load-process.ts';
import { peakMebibytes } from './proxy/process-cost.ts';

const kib = 1024;
const mib = 1024 * kib;
const limit = 128 * mib;

type Work = Omit<Job, 'target' | 'bucket'>;

const small = { prefix: 'small-', size: 4 * kib, objects: 500 };
const medium = { prefix: 'medium-', size: mib, objects: 32 };
const large = { prefix: 'large-', size: 64 * mib, objects: 4 };
const huge = { prefix: 'huge-', size: 1024 * mib, objects: 1 };

const singles: Readonly<Record<string, Work | undefined>> = {
  nothing: undefined,
  'PUT 4 KiB, 16 clients': { ...small, method: 'PUT', clients: 16 },
  'GET 4 KiB, 16 clients': { ...small, method: 'GET', clients: 16 },
  'PUT 4 KiB, 512 clients': { ...small, method: 'PUT', clients: 512, refusals: true },
  'GET 4 KiB, 512 clients': { ...small, method: 'GET', clients: 512, refusals: true },
  'PUT 1 MiB, 4 clients': { ...medium, method: 'PUT', clients: 4 },
  'GET 1 MiB, 4 clients': { ...medium, method: 'GET', clients: 4 },
  'PUT 64 MiB, 2 clients': { ...large, method: 'PUT', clients: 2 },
  'GET 64 MiB, 2 clients': { ...large, method: 'GET', clients: 2 },
  'GET 64 MiB, 16 clients': { ...large, method: 'GET', clients: 16 },
  'PUT 1 GiB, 1 client': { ...huge, method: 'PUT', clients: 1 },
  'GET 1 GiB, 1 client': { ...huge, method: 'GET', clients: 1 },
  'range of 4 KiB in 64 MiB, 16 clients': {
    ...large,
    method: 'GET',
    clients: 16,
    range: 'bytes=9000000-9004095',
  },
};

/** All at once; what is read is not written meanwhile. */
const mix: readonly Work[] = [
  { ...small, prefix: `${small.prefix}new-`, method: 'PUT', clients: 8 },
  { ...small, method: 'GET', clients: 8 },
  { ...medium, prefix: `${medium.prefix}new-`, method: 'PUT', clients: 4 },
  { ...medium, method: 'GET', clients: 4 },
  { ...large, prefix: `${large.prefix}new-`, method: 'PUT', clients: 4 },
  { ...large, method: 'GET', clients: 4 },
  { ...huge, method: 'GET', clients: 1 },
];

const own: readonly ContenderName[] = ['svc', 'svc, https upstream'];
const others: readonly ContenderName[] = [
  'rclone serve s3 over crypt',
  'rclone serve s3 over crypt, https upstream',
];

export const name = 'proxy-memory';
export const summary =
  'Most resident memory of the proxy in a cgroup of 128 MiB, by single loads and by a mix';
export const parts = ['single', 'mix'];

export const run: Bench['run'] = async (say, chosen) => {
  const [bed, load] = [await startBed(), startLoadProcess()];
  try {
    const tables: Table[] = [];
    if (chosen.includes('single')) tables.push(await singleTable(bed, load, say));
    if (chosen.includes('mix')) tables.push(await mixTable(bed, load, say));
    return tables;
  } finally {
    await load.stop();
    await bed.stop();
  }
};

const seconds = 4;

/** Each load meets a process of its own. */
async function singleTable(bed: Bed, load: LoadProcess, say: (text: string) => void): Promise<Table> {
  for (const contender of own) await fill(await bed.start(contender), load);
  const rows: Row[] = [];
  for (const [title, work] of Object.entries(singles)) {
    const cells: Row['cells'][number][] = [];
    for (const contender of own) {
      say(`${title}: ${contender}`);
      const send = ({ target }: Contender) =>
        work ? load.run({ ...work, target, bucket, seconds }) : undefined;
      const { peak, killed } = await confined(bed, contender, send);
      cells.push(peak, killed);
    }
    rows.push({ name: title, cells });
  }
  return {
    title: 'Peak resident MiB, cgroup of 128 MiB',
    columns: own.flatMap((contender) => [contender, 'killed']),
    rows: [...rows, { name: 'aim', cells: [100, 0, 100, 0] }],
  };
}

const mixSeconds = 20;

async function mixTable(bed: Bed, load: LoadProcess, say: (text: string) => void): Promise<Table> {
  const loads = mix.map(startLoadProcess);
  const rows: Row[] = [];
  const send = async ({ target }: Contender) => {
    const jobs = mix.map((work): Job => ({ ...work, target, bucket, seconds: mixSeconds, refusals: true }));
    return Promise.all(jobs.map((job, index) => loads[index]?.run(job)));
  };
  try {
    for (const contender of [...own, ...others]) {
      say(`mix: ${contender}`);
      const free = others.includes(contender);
      const writer = await bed.start(contender);
      await fill(writer, load);
      await writer.stop();
      const { peak, killed, result } = await confined(bed, contender, send, free);
      const sum = (pick: 'requests' | 'refused' | 'bytes') =>
        result.reduce((total, one) => total + (one?.[pick] ?? 0), 0);
      rows.push({
        name: free ? `${contender}, no limit` : contender,
        cells: [peak, killed, sum('requests'), sum('bytes') / mib, sum('refused')],
      });
    }
  } finally {
    await Promise.all(loads.map((each) => each.stop()));
  }
  return {
    title: `Mix for ${mixSeconds} s, cgroup of 128 MiB`,
    columns: ['peak MiB', 'killed', 'requests', 'MiB', 'refusals'],
    rows: [...rows, { name: 'aim', cells: [112, 0] }],
    notes: [
      'PUT and GET at once: 4 KiB, 8 clients each; 1 MiB, 4 each; 64 MiB, 4 each; GET of 1 GiB, 1 client.',
    ],
  };
}

/** What is read later. */
async function fill({ target }: Contender, load: LoadProcess): Promise<void> {
  for (const objects of [small, medium, large, huge])
    await load.run({ ...objects, target, bucket, method: 'PUT', clients: 2, requests: objects.objects });
}

/** Starts the contender in a cgroup, lets it work, and ends it. */
async function confined<T>(
  bed: Bed,
  name: ContenderName,
  work: (contender: Contender) => Promise<T> | T,
  free = false,
): Promise<{ peak: number; killed: number; result: T }> {
  const cgroup = free ? undefined : createMemoryCgroup(limit);
  try {
    const contender = await bed.start(name, cgroup?.under);
    const result = await work(contender);
    const peak = peakMebibytes(contender.pid);
    await contender.stop();
    return { peak, killed: cgroup?.killed() ?? 0, result };
  } finally {
    await cgroup?.remove();
  }
}
