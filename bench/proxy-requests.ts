import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { s3Client } from '../test/support/object-store.ts';
import { startRequestLog } from '../test/support/request-log.ts';
import { startSvcProxy } from '../test/support/svc-proxy.ts';
import type { RequestLog } from '../test/support/types.ts';
import type { Bench, Row, Table } from './harness/bench.ts';
import { median } from './harness/median.ts';
import { type Contender, measure } from './proxy/contender.ts';
import { type Bed, bucket, startBed } from './proxy/contenders.ts';
import { startLoadProcess } from './proxy/load-process.ts';

const mib = 1024 * 1024;
const Key = 'parts.bin';

export const name = 'proxy-requests';
export const summary = 'What ranges and listings through the proxy ask of the store';
export const parts = ['range', 'listing'];

export const run: Bench['run'] = async (say, chosen) => {
  const bed = await startBed();
  try {
    const tables: Table[] = [];
    if (chosen.includes('range')) tables.push(await rangeTable(bed, say));
    if (chosen.includes('listing')) tables.push(await listingTable(bed, say));
    return tables;
  } finally {
    await bed.stop();
  }
};

async function rangeTable(bed: Bed, say: (text: string) => void): Promise<Table> {
  say('a range of 4 KiB in 64 MiB of 8 MiB parts');
  const log = await startRequestLog(bed.http.endpoint);
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  const proxy = await startSvcProxy({ upstream: { ...bed.http, endpoint: log.url }, vault });
  const s3 = await s3Client(proxy.target);
  try {
    await uploadParts(s3);
    return {
      title: 'Range of 4 KiB in 64 MiB of 8 MiB parts',
      columns: ['requests', 'bytes fetched'],
      rows: [await rangeRow(s3, log), { name: 'aim', cells: [2, 8 * mib + 28] }],
    };
  } finally {
    s3.destroy();
    await proxy.stop();
    await log.stop();
  }
}

async function listingTable(bed: Bed, say: (text: string) => void): Promise<Table> {
  const load = startLoadProcess();
  const rows: Row[] = [];
  try {
    for (const scheme of ['', ', https'] as const) {
      const proxy = await bed.start(scheme === '' ? 'svc' : 'svc, https upstream');
      const bare = await bed.start(`bare store${scheme}`);
      say(`a listing of 1,000 objects${scheme}`);
      const objects = { bucket, prefix: 'o-', size: 100, objects: 1000, clients: 16 };
      await measure(load, proxy, { ...objects, method: 'PUT', requests: 1000 });
      const listing = {
        ...objects,
        method: 'GET',
        prefix: '',
        clients: 1,
        query: 'list-type=2&prefix=o-',
      } as const;
      const take = async (contender: Contender, requests: number) =>
        (await measure(load, contender, { ...listing, requests })).p50;
      const first = await take(proxy, 1);
      await take(bare, 5);
      const turns: { bare: number; later: number }[] = [];
      for (let turn = 0; turn < 5; turn += 1)
        turns.push({ bare: await take(bare, 10), later: await take(proxy, 10) });
      const usual = median(turns.map((turn) => turn.bare));
      const ratio = median(turns.map((turn) => turn.later / turn.bare));
      rows.push(
        { name: bare.name, cells: [usual, 1] },
        { name: `${proxy.name}, first time`, cells: [first, first / usual] },
        { name: `${proxy.name}, later`, cells: [median(turns.map(({ later }) => later)), ratio] },
      );
    }
  } finally {
    await load.stop();
  }
  return {
    title: 'Listing of 1,000 objects',
    columns: ['ms', 'of bare'],
    rows: [...rows, { name: 'aim', cells: [undefined, 1.3] }],
  };
}

async function uploadParts(s3: Awaited<ReturnType<typeof s3Client>>): Promise<void> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key }));
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  for (let PartNumber = 1; PartNumber <= 8; PartNumber++) {
    const part = { Bucket: bucket, Key, UploadId, PartNumber, Body: Buffer.alloc(8 * mib, PartNumber) };
    const { ETag } = await s3.send(new UploadPartCommand(part));
    Parts.push({ PartNumber, ETag });
  }
  await s3.send(
    new CompleteMultipartUploadCommand({ Bucket: bucket, Key, UploadId, MultipartUpload: { Parts } }),
  );
}

async function rangeRow(s3: Awaited<ReturnType<typeof s3Client>>, log: RequestLog): Promise<Row> {
  log.clear();
  const start = 20 * mib;
  const answer = await s3.send(
    new GetObjectCommand({ Bucket: bucket, Key, Range: `bytes=${start}-${start + 4095}` }),
  );
  await answer.Body?.transformToByteArray();
  return { name: 'svc', cells: [log.requests.length, log.fetchedBytes()] };
}
