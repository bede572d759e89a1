import { EnvelopeError } from '../../../core/envelope/error.ts';
import { overheadBytes } from '../../../core/envelope/format.ts';
import { type Envelope, readEnvelope } from '../../../core/envelope/metadata.ts';
import { unquote } from '../../../core/s3/etag.ts';
import type { ListingEntry } from '../../../core/s3/list-entry.ts';
import { concurrently } from '../../../runtime/lifecycle/concurrently.ts';
import type { ProxyContext } from '../context.ts';
import type { SizeCache } from './size-cache.ts';

const headsAtOnce = 16;
/** S3's least size of a part: what is smaller has no second part. */
const leastPart = 5 * 1024 * 1024;

type SizedEntry = ListingEntry & { readonly size: number; readonly etag: string };

/** Plaintext sizes of entries of one bucket; an entry that is left out has its stored size. */
export async function plaintextSizes(
  context: ProxyContext,
  cache: SizeCache,
  bucket: string,
  entries: readonly ListingEntry[],
  signal: AbortSignal,
): Promise<ReadonlyMap<ListingEntry, number>> {
  const sizes = new Map<ListingEntry, number>();
  if (context.config.listSizes === 'stored') return sizes;
  const unknown: SizedEntry[] = [];
  for (const entry of entries.filter(isSized)) {
    const size = cache.get(cacheId(bucket, entry)) ?? arithmeticSize(context, entry);
    if (size === undefined) unknown.push(entry);
    else sizes.set(entry, size);
  }
  await concurrently(unknown, headsAtOnce, async (entry) => {
    const size = await askedSize(context, bucket, entry, signal);
    if (size === undefined) return;
    cache.set(cacheId(bucket, entry), size);
    sizes.set(entry, size);
  });
  return sizes;
}

const isSized = (entry: ListingEntry): entry is SizedEntry =>
  entry.size !== undefined && entry.etag !== undefined;

const cacheId = (bucket: string, { key, etag, versionId = '' }: SizedEntry): string =>
  `${bucket}\n${etag}\n${versionId}\n${key}`;

/** Where nothing unencrypted is read, every object carries 28 bytes a part. A copy's ETag does not tell its parts. */
function arithmeticSize({ config }: ProxyContext, { size, etag }: SizedEntry): number | undefined {
  if (config.unencryptedReads !== 'deny') return undefined;
  const parts = partsOfEtag(etag) ?? (size <= leastPart ? 1 : undefined);
  const plaintext = parts === undefined ? undefined : size - parts * overheadBytes;
  return plaintext !== undefined && plaintext >= 0 ? plaintext : undefined;
}

/** The number of parts that a multipart upload's ETag ends in. */
function partsOfEtag(etag: string): number | undefined {
  const suffix = /-(\d{1,5})$/.exec(unquote(etag))?.[1];
  return suffix === undefined ? undefined : Number(suffix);
}

/** Undefined when the object is another by now, or when its metadata cannot be read. */
async function askedSize(
  context: ProxyContext,
  bucket: string,
  { key, etag, versionId }: SizedEntry,
  signal: AbortSignal,
): Promise<number | undefined> {
  const head = async (query: readonly (readonly [string, string])[]) => {
    const { status, headers, body } = await context.upstream.send({
      method: 'HEAD',
      bucket,
      key,
      query,
      signal,
    });
    body.resume();
    return { status, headers };
  };
  const first = await head(versionId === undefined ? [] : [['versionId', versionId]]);
  // versitygw lists the version `null` in buckets without versions, and refuses to be asked for it.
  const { status, headers } = first.status === 400 && versionId === 'null' ? await head([]) : first;
  const stored = Number(headers['content-length']);
  if (status !== 200 || !Number.isSafeInteger(stored)) return undefined;
  if (unquote(headers.etag ?? '') !== unquote(etag)) return undefined;
  try {
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return stored;
    const parts = await partCount(context, { bucket, key }, envelope, etag);
    return parts === undefined ? undefined : Math.max(0, stored - parts * overheadBytes);
  } catch (error) {
    if (error instanceof EnvelopeError) return undefined;
    throw error;
  }
}

async function partCount(
  { manifests }: ProxyContext,
  name: { bucket: string; key: string },
  { keys }: Envelope,
  etag: string,
): Promise<number | undefined> {
  if (keys.form === 'single') return 1;
  if (keys.form === 'inline') return keys.list.parts.length;
  return partsOfEtag(etag) ?? (await manifests.find(name, keys.manifest))?.parts.length;
}
