import {
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Headers } from '../../../objects/format/metadata.ts';
import { sdkPages } from '../../../objects/upstream/sdk-listing.ts';
import { certificateErrorCode, httpStatusOf, SvcError } from '../../../runtime/errors.ts';
import { checkStatus } from '../../../runtime/report/check-outcome.ts';

/** A bucket through `@aws-sdk/client-s3`. */
export function s3AuditStore(client: S3Client, bucket: string, prefix: string): AuditStore {
  return {
    pages: (after, signal) => pages(client, bucket, prefix, after, signal),
    head: (key, signal) => head(client, bucket, key, signal),
    close: () => client.destroy(),
  };
}

async function* pages(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  StartAfter: string | undefined,
  abortSignal: AbortSignal,
): AsyncGenerator<readonly AuditedObject[]> {
  const send = (from: { ContinuationToken?: string | undefined }) => {
    const begin = from.ContinuationToken === undefined ? { StartAfter } : from;
    const command = new ListObjectsV2Command({ Bucket, Prefix, EncodingType: 'url', ...begin });
    return client.send(command, { abortSignal });
  };
  for await (const page of sdkPages(send, ({ NextContinuationToken }) => ({
    ContinuationToken: NextContinuationToken,
  })))
    yield listed(page);
}

function listed({ Contents = [], EncodingType }: ListObjectsV2CommandOutput): readonly AuditedObject[] {
  const decoded = EncodingType === 'url' ? fromUrl : (key: string) => key;
  return Contents.flatMap(({ Key, Size = 0 }) =>
    Key === undefined ? [] : [{ key: decoded(Key), size: Size }],
  );
}

/** Decodes as for forms, where a plus stands for a blank. */
function fromUrl(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

async function head(client: S3Client, Bucket: string, Key: string, abortSignal: AbortSignal): Promise<Head> {
  try {
    const { Metadata = {} } = await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
    const headers = Object.entries(Metadata).map(([name, value]) => [
      `x-amz-meta-${name.toLowerCase()}`,
      value,
    ]);
    return { found: true, headers: Object.fromEntries(headers) };
  } catch (error) {
    const status = httpStatusOf(error);
    if (status === 404)
      return (await isListed(client, Bucket, Key, abortSignal))
        ? { found: 'refused', status }
        : { found: false };
    if (status === 400 || status === 405) return { found: 'refused', status };
    throw error;
  }
}

/** Replaces characters that a listing cannot represent. */
const replacement = '\uFFFD';

/** Some stores list a key differently from how they accept it; such an object exists but cannot be examined. */
async function isListed(
  client: S3Client,
  Bucket: string,
  key: string,
  abortSignal: AbortSignal,
): Promise<boolean> {
  if (key.includes(replacement)) return true;
  const command = new ListObjectsV2Command({ Bucket, Prefix: key, EncodingType: 'url', MaxKeys: 1 });
  return listed(await client.send(command, { abortSignal })).some((one) => one.key === key);
}

export interface AuditedObject {
  readonly key: string;
  /** In bytes, as stored. */
  readonly size: number;
}

/** The result of reading an object's metadata. */
export type Head =
  | { readonly found: true; readonly headers: Headers }
  /** The object no longer exists. */
  | { readonly found: false }
  /** The store refuses the request, for example for an object under a customer key. */
  | { readonly found: 'refused'; readonly status: number };

/** The part of an object store that the audit uses; read-only. */
export interface AuditStore {
  /** Keys in byte order. @param after the key to continue after; undefined for the beginning */
  pages(after: string | undefined, signal: AbortSignal): AsyncIterable<readonly AuditedObject[]>;
  head(key: string, signal: AbortSignal): Promise<Head>;
  close(): void;
}

export interface BucketPlace {
  readonly host: string;
  readonly bucket: string;
  /** Path of the progress file. */
  readonly resume: string | undefined;
}

/**
 * Names what is missing, as far as the store reports it. The status is "could not be evaluated", except for a rejected
 * certificate, which is a matter of configuration.
 */
export function storeFailure(error: unknown, { host, bucket, resume }: BucketPlace): SvcError {
  const name = nameOf(error);
  const certificate = certificateErrorCode(error);
  if (certificate !== undefined) {
    const message = `The certificate of the object store ${host} is not accepted (${certificate})`;
    return new SvcError('CONFIG_INVALID', message, {
      nextStep:
        'Set AWS_CA_BUNDLE to the CA that issued its certificate, and use a host name of the certificate in --upstream.',
      exitStatus: checkStatus.usage,
      cause: error,
    });
  }
  const [code, message, step] = described(httpStatusOf(error), name, host, bucket);
  const again = resume === undefined ? 'then run it again.' : `then run it again; it goes on from ${resume}.`;
  return new SvcError(code, message, {
    nextStep: `${step} ${again}`,
    exitStatus: checkStatus.notEvaluated,
    cause: error,
  });
}

/** System errors share one name and have their own codes. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}

function described(status: number | undefined, name: string, host: string, bucket: string) {
  if (status === 403 || status === 401)
    return [
      'AUDIT_DENIED',
      `The object store ${host} does not let the audit read bucket ${bucket} (${name})`,
      `Allow s3:ListBucket on the bucket and s3:GetObject on its objects,`,
    ] as const;
  if (status === 404)
    return [
      'AUDIT_NO_BUCKET',
      `The object store ${host} has no bucket ${bucket}`,
      'Check its name,',
    ] as const;
  return [
    'AUDIT_STORE_FAILED',
    `The object store ${host} failed or could not be reached (${name})`,
    'Check --upstream, and that credentials can be found,',
  ] as const;
}
