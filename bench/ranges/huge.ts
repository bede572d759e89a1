import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3';
import { s3Client } from '../../test/support/object-store.ts';
import type { Row, Table } from '../harness/bench.ts';
import { median } from '../harness/median.ts';
import {
  type Contender,
  disturbance,
  type Measured,
  measure,
  rateWithoutKeyServer,
} from '../proxy/contender.ts';
import { type Bed, bucket } from '../proxy/contenders.ts';
import { type LoadProcess, startLoadProcess } from '../proxy/load-process.ts';

const mib = 1024 ** 2;
/** With the tags of its segments it fits into the 5 GiB that stores take in one PUT. */
const size = 5 * 1024 * mib - 2 * mib;
const prefix = 'huge-';
/** 4 KiB across the border of two segments, far behind. */
const range = `bytes=${4096 * mib - 100}-${4096 * mib - 100 + 4095}`;
const firstBytes = 5;

interface Figures {
  readonly put: Measured;
  readonly get: Measured;
  readonly ranges: Measured;
  readonly firstByteMs: number;
}

/**
 * Of an object as large as stores take in one PUT. In format 1 a first byte or a range would cost the reading of all of
 * it; that is not measured.
 */
export async function hugeTable(bed: Bed, say: (text: string) => void): Promise<Table> {
  const load = startLoadProcess();
  try {
    const bare = await figuresOf(await bed.start('bare store'), load, say);
    const own = await figuresOf(await bed.start('svc, `--format 2`'), load, say);
    return {
      title: 'An object of 5 GiB (less 2 MiB) in one piece',
      columns: [
        ...['PUT MiB/s', 'GET MiB/s', 'first byte, ms', 'of bare'],
        ...['4 KiB, of the bare store', 'CPU ms a range', 'peak MiB'],
      ],
      rows: [
        rowOf('bare store', bare, bare),
        rowOf('svc, `--format 2`', own, bare),
        {
          name: 'aim, `--format 2`',
          cells: [undefined, undefined, undefined, 3, 0.6, 0.5, undefined],
        },
      ],
      notes: [`A first byte is the median of ${firstBytes}. Ranges are asked for by 16 clients.`],
      disturbance: disturbance([bare, own].flatMap(({ put, get, ranges }) => [put, get, ranges])),
    };
  } finally {
    await load.stop();
  }
}

async function figuresOf(
  contender: Contender,
  load: LoadProcess,
  say: (text: string) => void,
): Promise<Figures> {
  say(`5 GiB, ${contender.name}`);
  const s3 = await s3Client(contender.target);
  const object = { Bucket: bucket, Key: `${prefix}0` };
  const work = { bucket, prefix, objects: 1, size };
  const once = { ...work, clients: 1, requests: 1 };
  try {
    const put = await measure(load, contender, { ...once, method: 'PUT' });
    const firstByteMs = await firstByte(() => s3.send(new GetObjectCommand(object)));
    const get = await measure(load, contender, { ...once, method: 'GET' });
    const ranges = { ...work, method: 'GET', range, clients: 16 } as const;
    await measure(load, contender, { ...ranges, requests: 50 });
    return { put, get, firstByteMs, ranges: await measure(load, contender, { ...ranges, seconds: 8 }) };
  } finally {
    await s3.send(new DeleteObjectCommand(object));
    s3.destroy();
    await contender.stop();
  }
}

/** Until the first byte of the whole is there; the rest is not read. */
async function firstByte(get: () => Promise<{ Body?: unknown }>): Promise<number> {
  const taken: number[] = [];
  for (let turn = 0; turn < firstBytes; turn += 1) {
    const begun = performance.now();
    const body = (await get()).Body as Readable;
    await once(body, 'readable');
    taken.push(performance.now() - begun);
    body.destroy();
  }
  return median(taken);
}

function rowOf(label: string, { put, get, ranges, firstByteMs }: Figures, bare: Figures): Row {
  const mibPerSecond = ({ bytes, seconds }: Measured) => bytes / seconds / mib;
  return {
    name: label,
    cells: [
      mibPerSecond(put),
      mibPerSecond(get),
      firstByteMs,
      firstByteMs / bare.firstByteMs,
      rateWithoutKeyServer(ranges) / rateWithoutKeyServer(bare.ranges),
      (ranges.cpu * 1000) / ranges.requests,
      Math.max(put.peak, get.peak, ranges.peak),
    ],
  };
}
