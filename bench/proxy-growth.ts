import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  paginateListParts,
  type S3Client,
} from '@aws-sdk/client-s3';
import { readObject } from '../test/conformance/support/read-object.ts';
import { Bucket, startBed as startPartsBed } from '../test/conformance/ten-thousand-parts/bed.ts';
import { requestsOf, Stages } from '../test/conformance/ten-thousand-parts/stages.ts';
import { startRequestLog } from '../test/support/request-log.ts';
import { startSvcProxy } from '../test/support/svc-proxy.ts';
import type { Bench, Row, Table } from './harness/bench.ts';
import { type Contender, disturbance, type Measured, measure, middle } from './proxy/contender.ts';
import { type Bed, bucket, type ContenderName, startBed } from './proxy/contenders.ts';
import { type LoadProcess, startLoadProcess } from './proxy/load-process.ts';

type Say = (text: string) => void;

export const name = 'proxy-growth';
export const summary =
  'Requests, key calls and memory of the proxy for 1 to 10,000 parts and 1 to 1,000 clients';
export const parts = ['parts', 'clients'];

export const run: Bench['run'] = async (say, chosen) => {
  const load = startLoadProcess();
  try {
    const tables: Table[] = [];
    if (chosen.includes('parts')) tables.push(await partsTable(load, say));
    if (chosen.includes('clients')) tables.push(await clientsTable(load, say));
    return tables;
  } finally {
    await load.stop();
  }
};

const Key = 'parts.bin';
const partSize = 1024;
const partCounts = [1, 10, 100, 1000, 10_000];

/** Against the development store, which takes parts of any size, with a relay on each side that counts. */
async function partsTable(load: LoadProcess, say: Say): Promise<Table> {
  const rows: Row[] = [];
  for (const args of [[], ['--join-key-calls=false']]) {
    const bed = await startPartsBed(true, args);
    try {
      for (const count of args.length === 0 ? partCounts : partCounts.slice(-1)) {
        const title = [
          `${count.toLocaleString('en')} ${count === 1 ? 'part' : 'parts'}`,
          ...args.map((arg) => `\`${arg}\``),
        ].join(', ');
        say(title);
        await bed.restart();
        const stages = new Stages(bed);
        await stages.run('write', async () => {
          const UploadId = await upload(bed.s3, bed.proxy.target, count, load);
          await complete(bed.s3, UploadId);
        });
        await stages.run('read', () => readObject(bed.s3, Bucket, Key));
        await bed.restart();
        await stages.run('range', () => readObject(bed.s3, Bucket, Key, { Range: 'bytes=10-19' }));
        rows.push({ name: title, cells: cellsOf(stages) });
      }
    } finally {
      await bed.stop();
    }
  }
  return {
    title: 'Parts of 1 KiB, 16 uploads at a time',
    columns: ['key calls: write', 'read', 'range', 'store requests: write', 'read', 'range', 'peak MiB'],
    rows: [
      ...rows,
      { name: 'aim', cells: [200, undefined, undefined, undefined, undefined, undefined, 112] },
    ],
    notes: [
      'Writing includes one ListParts, for the ETags that Complete names. The range is the first of its process.',
    ],
  };
}

function cellsOf(stages: Stages): number[] {
  const named = ['write', 'read', 'range'].map((stage) => stages.named(stage));
  return [
    ...named.map(({ keyServer }) => requestsOf(keyServer)),
    ...named.map(({ store }) => requestsOf(store)),
    Math.max(...named.map(({ peak }) => peak)) / 1024 ** 2,
  ];
}

async function upload(
  s3: S3Client,
  target: Contender['target'],
  count: number,
  load: LoadProcess,
): Promise<string> {
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const object = { target, bucket: Bucket, prefix: Key, uploadId: UploadId, size: partSize };
  await load.run({ ...object, method: 'PUT', objects: count, requests: count, clients: Math.min(count, 16) });
  return UploadId;
}

async function complete(s3: S3Client, UploadId: string): Promise<void> {
  const Parts: { PartNumber: number | undefined; ETag: string | undefined }[] = [];
  for await (const page of paginateListParts({ client: s3 }, { Bucket, Key, UploadId }))
    for (const { PartNumber, ETag } of page.Parts ?? []) Parts.push({ PartNumber, ETag });
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
}

const clientCounts = [1, 16, 128, 512, 1000];
const rounds = 3;
const seconds = 1.2;
const field: readonly ContenderName[] = ['svc', 'svc, https upstream', 'rclone serve s3 over crypt'];

async function clientsTable(load: LoadProcess, say: Say): Promise<Table> {
  const bed = await startBed();
  try {
    const contenders = await Promise.all(field.map((contender) => bed.start(contender)));
    const measured = new Map<string, { put: Measured[]; get: Measured[] }>();
    for (let round = 0; round <= rounds; round += 1) {
      for (const clients of round === 0 ? [16] : clientCounts) {
        for (const contender of contenders) {
          const title = titleOf(contender.name, clients);
          say(`${round === 0 ? 'warm-up' : `round ${round}`}: ${title}`);
          const work = { ...workOf(contenders.indexOf(contender)), clients };
          if (round === 0) await measure(load, contender, { ...work, method: 'PUT', requests: work.objects });
          const one = measured.get(title) ?? { put: [], get: [] };
          const put = await measure(load, contender, { ...work, method: 'PUT', seconds });
          const get = await measure(load, contender, { ...work, method: 'GET', seconds });
          if (round > 0) measured.set(title, { put: [...one.put, put], get: [...one.get, get] });
        }
      }
    }
    say('counting requests');
    const counted = await countRequests(bed, load);
    const rows = [...measured].map(([title, { put, get }]) => {
      const costs = [put, get].flatMap((own) => [
        middle(own, (one) => one.requests / one.seconds),
        middle(own, ({ cpu, requests }) => (cpu / requests) * 1000),
        middle(own, ({ p99 }) => p99),
      ]);
      const refused = middle([...put, ...get], ({ refused, requests }) => refused / requests);
      const peak = Math.max(...[...put, ...get].map((one) => one.peak));
      return {
        name: title,
        cells: [...costs, refused, ...(counted.get(title) ?? [undefined, undefined]), peak],
      };
    });
    return {
      title: '4 KiB, from 1 to 1,000 clients',
      columns: [
        ...['PUT/s', 'CPU ms', 'p99 ms', 'GET/s', 'CPU ms', 'p99 ms'],
        ...['refusals a request', 'key calls a request', 'store requests a request', 'peak MiB'],
      ],
      rows,
      disturbance: disturbance([...measured.values()].flatMap(({ put, get }) => [...put, ...get])),
      notes: [
        'Refusals are 500, 503 and cut connections; the request is sent again after 20 ms. Calls are counted in runs of their own.',
      ],
    };
  } finally {
    await bed.stop();
  }
}

const titleOf = (contender: string, clients: number) =>
  `${contender}, ${clients.toLocaleString('en')} ${clients === 1 ? 'client' : 'clients'}`;

const workOf = (index: number) => ({
  ...{ bucket, prefix: `clients-${index}-`, size: 4096, objects: 500, refusals: true },
});

/** Key calls and requests to the store, each for a request of a caller, PUT and GET alike. */
async function countRequests(bed: Bed, load: LoadProcess): Promise<Map<string, number[]>> {
  const [store, keys] = [await startRequestLog(bed.http.endpoint), await startRequestLog(bed.bao.url)];
  const vault = { addr: keys.url, token: await bed.bao.policyToken() };
  const proxy = await startSvcProxy({ upstream: { ...bed.http, endpoint: store.url }, vault });
  const counts = new Map<string, number[]>();
  try {
    for (const clients of clientCounts) {
      for (const log of [store, keys]) log.clear();
      const job = { ...workOf(0), target: proxy.target, clients, requests: Math.max(500, 2 * clients) };
      const put = await load.run({ ...job, method: 'PUT' });
      const get = await load.run({ ...job, method: 'GET' });
      const each = put.requests + get.requests;
      counts.set(titleOf('svc', clients), [keys.requests.length / each, store.requests.length / each]);
    }
  } finally {
    await proxy.stop();
    await Promise.all([store.stop(), keys.stop()]);
  }
  return counts;
}
