import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import {
  type MeddlingStore,
  type StoreRequest,
  startMeddlingStore,
} from '../../../../support/meddling-store.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../../support/rig.ts';

/** Runs the tests that `define` adds against each store; `once` is for what depends on the proxy alone, and needs no second store. */
export function onEachStore(what: string, define: (test: Suite, once: Suite | undefined) => void): void {
  for (const kind of ['versitygw', 'minio'] as const) {
    const test = suite<{ bed: Bed }>(`${what}, ${kind}`);
    test.before(async (context) => {
      context.bed = await startBed(kind);
    });
    test.after(async ({ bed }) => {
      await bed?.rig.stop();
      await bed?.relay.stop();
    });
    test.after.each(({ bed }) => bed.relay.meddle(undefined));
    define(test, kind === 'versitygw' ? test : undefined);
    test.run();
  }
}

type Suite = ReturnType<typeof suite<{ bed: Bed }>>;

export interface Bed {
  rig: Rig;
  relay: MeddlingStore;
  /** Part lists in manifests. */
  proxy: RiggedProxy;
  /** Part lists inline, which is the default; their manifests stay for a time of grace. */
  inline: RiggedProxy;
}

export const text = (body: string | Uint8Array) => Buffer.from(body);
export const hello = [text('hello')];
let buckets = 0;

export async function code(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'none',
    (error: Error) => error.name,
  );
}

async function startBed(kind: 'versitygw' | 'minio'): Promise<Bed> {
  const rig = await startRig({ kind, ...(kind === 'versitygw' ? { versioning: true } : {}) });
  const relay = await startMeddlingStore(rig.store.url);
  const { region, accessKeyId, secretAccessKey } = rig.store;
  const upstream = { endpoint: relay.url, region, accessKeyId, secretAccessKey };
  const proxy = await rig.proxy({ upstream, args: ['--inline-limit', '0'] });
  return { rig, relay, proxy, inline: await rig.proxy({ upstream }) };
}

export async function newBucket({ rig }: Bed, options?: { versioning: boolean }): Promise<string> {
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  await rig.store.createBucket(bucket, options);
  return bucket;
}

/** Keys that the store itself has. */
export async function held({ rig }: Bed, Bucket: string, Prefix = ''): Promise<string[]> {
  const { Contents = [] } = await rig.store.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key).filter((key) => !key.endsWith('/'));
}

export const manifests = (bed: Bed, bucket: string) => held(bed, bucket, '.svc/manifests/');

export async function content(s3: S3Client, Bucket: string, Key: string): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToString()) ?? '';
}

export const put = (s3: S3Client, Bucket: string, Key: string, Body = 'hello') =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body }));
export const drop = (s3: S3Client, Bucket: string, Key: string, VersionId?: string) =>
  s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
export const deleteBucket = (s3: S3Client, Bucket: string) => s3.send(new DeleteBucketCommand({ Bucket }));

/** Called once with the second DELETE of the bucket, which comes after the helper objects have gone. */
export function betweenClearingAndDeleting(bed: Bed, bucket: string, act: () => Promise<void>): void {
  let seen = 0;
  const isDelete = ({ method, path }: StoreRequest) =>
    method === 'DELETE' && /^\/[^/?]+\/?(\?x-id=[^&]*)?$/.test(path);
  bed.relay.meddle({
    before: async (request) => {
      if (!isDelete(request) || !request.path.startsWith(`/${bucket}`)) return undefined;
      seen += 1;
      if (seen === 2) await act();
      return undefined;
    },
  });
}

export async function keep({ rig }: Bed, Bucket: string, Status: 'Enabled' | 'Suspended'): Promise<void> {
  await rig.store.client.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }),
  );
}

export interface Held {
  readonly key: string;
  readonly version: string | undefined;
  readonly marker: boolean;
}

/** All that the store itself has. */
export async function versionsOf({ rig }: Bed, Bucket: string): Promise<Held[]> {
  const { Versions = [], DeleteMarkers = [] } = await rig.store.client.send(
    new ListObjectVersionsCommand({ Bucket }),
  );
  const told = (marker: boolean) => (one: { Key?: string | undefined; VersionId?: string | undefined }) => ({
    ...{ key: one.Key ?? '', version: one.VersionId, marker },
  });
  return [...Versions.map(told(false)), ...DeleteMarkers.map(told(true))];
}

export async function dropVersions(
  bed: Bed,
  bucket: string,
  wanted: (key: string) => boolean,
  which: (one: Held) => boolean = () => true,
): Promise<void> {
  for (const one of await versionsOf(bed, bucket))
    if (wanted(one.key) && which(one)) await drop(bed.rig.store.client, bucket, one.key, one.version);
}
