import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { s3Client } from '../test/support/object-store.ts';
import { startOpenBao } from '../test/support/openbao.ts';
import { startRequestLog } from '../test/support/request-log.ts';
import { startSvcProxy } from '../test/support/svc-proxy.ts';
import type { RequestLog } from '../test/support/types.ts';
import { startVersityGw } from '../test/support/versitygw.ts';
import type { Bench, Row } from './harness/bench.ts';
import { measure } from './proxy/contender.ts';
import { bareStore } from './proxy/contenders.ts';

const mib = 1024 * 1024;
const Bucket = 'bench';
const Key = 'parts.bin';

export const name = 'proxy-requests';
export const summary = 'What ranges and listings through the proxy ask of the store';

export const run: Bench['run'] = async (say) => {
  const [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ keepAlive: true })]);
  await bao.enableTransit();
  await store.createBucket(Bucket);
  const log = await startRequestLog(store.endpoint);
  const vault = { addr: bao.url, token: await bao.policyToken() };
  const counted = await startSvcProxy({ upstream: { ...store, endpoint: log.url }, vault });
  const direct = await startSvcProxy({ upstream: store, vault });
  const s3 = await s3Client(counted.target);
  try {
    say('a range of 4 KiB in 64 MiB of 8 MiB parts');
    await uploadParts(s3);
    const range = await rangeRow(s3, log);
    say('a listing of 1,000 objects');
    const proxy = { ...bareStore(store), ...direct.target, name: 'svc', pid: direct.pid };
    const objects = { bucket: Bucket, prefix: 'o-', size: 100, objects: 1000, requests: 1000, clients: 16 };
    await measure(proxy, { ...objects, method: 'PUT' });
    const listing = {
      ...objects,
      method: 'GET',
      prefix: '',
      query: 'list-type=2&prefix=o-',
      clients: 1,
    } as const;
    const bare = await measure(bareStore(store), { ...listing, requests: 20 });
    const first = await measure(proxy, { ...listing, requests: 1 });
    const later = await measure(proxy, { ...listing, requests: 20 });
    return [
      {
        title: 'Range of 4 KiB',
        columns: ['requests', 'bytes fetched'],
        rows: [range],
        notes: ['Goal: one part of 8 MiB.'],
      },
      {
        title: 'Listing of 1,000 objects',
        columns: ['ms', 'of bare'],
        rows: [
          { name: 'bare store', cells: [bare.seconds * 50, 1] },
          { name: 'svc, first time', cells: [first.seconds * 1000, first.seconds / (bare.seconds / 20)] },
          { name: 'svc, later', cells: [later.seconds * 50, later.seconds / bare.seconds] },
        ],
        notes: ['Goal: later listings within 1.3 of the bare store.'],
      },
    ];
  } finally {
    s3.destroy();
    await Promise.all([counted.stop(), direct.stop(), log.stop()]);
    await Promise.all([store.stop(), bao.stop()]);
  }
};

async function uploadParts(s3: Awaited<ReturnType<typeof s3Client>>): Promise<void> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  for (let PartNumber = 1; PartNumber <= 8; PartNumber++) {
    const part = { Bucket, Key, UploadId, PartNumber, Body: Buffer.alloc(8 * mib, PartNumber) };
    const { ETag } = await s3.send(new UploadPartCommand(part));
    Parts.push({ PartNumber, ETag });
  }
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
}

async function rangeRow(s3: Awaited<ReturnType<typeof s3Client>>, log: RequestLog): Promise<Row> {
  log.clear();
  const start = 20 * mib;
  const answer = await s3.send(
    new GetObjectCommand({ Bucket, Key, Range: `bytes=${start}-${start + 4095}` }),
  );
  await answer.Body?.transformToByteArray();
  return { name: 'svc', cells: [log.requests.length, log.fetchedBytes()] };
}
