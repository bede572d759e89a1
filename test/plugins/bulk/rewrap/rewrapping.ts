import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB } from '../../../clients/bed.ts';
import type { Child } from '../../../support/child.ts';
import { type MeddlingStore, startMeddlingStore } from '../../../support/meddling-store.ts';
import type { CommandResult, ObjectStore } from '../../../support/types.ts';
import { type BulkSetting, beginBulk, runBulk } from '../bulk-command.ts';

export const rewrap = (setting: BulkSetting, at: string, ...args: string[]): Promise<CommandResult> =>
  runBulk(setting, ['proxy', 'rewrap', at, ...args]);

/** The same, left running. */
export const beginRewrap = (setting: BulkSetting, at: string, ...args: string[]): Promise<Child> =>
  beginBulk(setting, ['proxy', 'rewrap', at, ...args]);

export async function keyConfig({ bao }: Bed, key: string, config: object): Promise<void> {
  const { status, text } = await bao.request('POST', `transit/keys/${key}/config`, config);
  assert.is(status, 200, text);
}

interface Use {
  readonly keyName: string;
  readonly keyVersion: number;
  readonly objects: number;
  readonly olderVersions: number;
  readonly uploads: number;
}

export interface RewrapResult {
  readonly listed: number;
  readonly current: number;
  readonly copied: number;
  readonly recorded: number;
  readonly pending: number;
  readonly unencrypted: number;
  readonly complete: boolean;
  readonly target: { readonly mount: string; readonly keyName: string; readonly keyVersion: number };
  readonly keyVersions: readonly Use[];
  readonly recordedBecause: Readonly<Record<string, number>>;
  readonly faultCount: number;
  readonly faults: readonly { readonly key: string; readonly reason: string }[];
  readonly error?: { readonly code: string };
}

export const rewrapResult = ({ stdout, stderr }: CommandResult): RewrapResult => {
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no report: ${stdout}${stderr}`);
  }
};

export async function put(
  client: S3Client,
  Key: string,
  Body: Buffer,
  more: Partial<ConstructorParameters<typeof PutObjectCommand>[0]> = {},
): Promise<readonly [string, Buffer]> {
  await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...more }));
  return [Key, Body];
}

export async function upload(
  { client, payload }: Pick<Bed, 'client' | 'payload'>,
  Key: string,
  parts: number,
  more: Partial<ConstructorParameters<typeof CreateMultipartUploadCommand>[0]> = {},
): Promise<readonly [string, Buffer]> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, ...more }));
  const bodies = Array.from({ length: parts }, (_, index) => payload(index === parts - 1 ? 1000 : 5 * MiB));
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = 2 * index + 1;
    const { ChecksumAlgorithm } = more;
    const part = { ...at, UploadId, PartNumber, Body, ...(ChecksumAlgorithm && { ChecksumAlgorithm }) };
    const { ETag, ChecksumSHA256 } = await client.send(new UploadPartCommand(part));
    Parts.push({ PartNumber, ETag, ChecksumSHA256 });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  return [Key, Buffer.concat(bodies)];
}

export async function read(
  client: S3Client,
  Key: string,
  VersionId?: string,
  Bucket = BUCKET,
): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, VersionId }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/** As the store has it. */
export const storedMetadata = async (client: S3Client, Key: string): Promise<Record<string, string>> =>
  (await client.send(new HeadObjectCommand({ Bucket: BUCKET, Key }))).Metadata ?? {};

/**
 * The store as S3 is, which holds copies to conditions on what they replace: writes of a key wait for each other, and a copy that
 * wants another ETag than is there is refused. So is one without a condition, as a policy of a bucket can have it.
 * @param onCopy what happens between the look at an object and its copy
 */
export async function startConditionalStore(
  store: ObjectStore,
  onCopy?: (key: string) => Promise<void>,
): Promise<MeddlingStore> {
  const relay = await startMeddlingStore(store.endpoint);
  const turns = new Map<string, Promise<void>>();
  const releases = new WeakMap<object, () => void>();
  relay.meddle({
    async before(request) {
      const { method, path, headers } = request;
      if (method !== 'PUT') return undefined;
      const [, bucket = '', ...names] = (path.split('?')[0] ?? '').split('/');
      const key = decodeURIComponent(names.join('/'));
      const isCopy = headers['x-amz-copy-source'] !== undefined;
      if (isCopy) await onCopy?.(key);
      const before = turns.get(path);
      const turn = Promise.withResolvers<void>();
      turns.set(path, turn.promise);
      await before;
      releases.set(request, turn.resolve);
      const wanted = headers['if-match'];
      if (!isCopy) return undefined;
      if (wanted === undefined) {
        turn.resolve();
        return refusal(403, 'AccessDenied');
      }
      const found = await store.client
        .send(new HeadObjectCommand({ Bucket: bucket, Key: key }))
        .catch(() => undefined);
      if (found?.ETag === wanted) return undefined;
      turn.resolve();
      return refusal(412, 'PreconditionFailed');
    },
    after(request, answer) {
      releases.get(request)?.();
      return answer;
    },
    lost: (request) => releases.get(request)?.(),
  });
  return relay;
}

const refusal = (status: number, code: string) => ({
  status,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from(`<Error><Code>${code}</Code></Error>`),
});
