import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectServices, OperationHandler } from '../context.ts';
import { type Envelope, envelopeHeaders, hasAside, type ObjectName } from '../format/metadata.ts';
import { sealMd5 } from '../format/sealed-checksums.ts';
import type { FreshKey, WrapScheme } from '../keys/data-keys.ts';
import { manifestToReplace, removeManifest } from '../multipart/manifest-store.ts';
import { s3Error } from '../s3/error.ts';
import {
  checkUserMetadata,
  maxUserMetadata,
  type NamedMd5,
  strictMetadataSize,
  takeNamedMd5,
  unquote,
  writeHeadersUpstream,
} from '../s3/headers.ts';
import type { Payload } from '../s3/received-payload.ts';
import { smallBytes } from './ciphertext-spool.ts';
import { encryptToStore, type StoredBody, writeAnswer } from './encrypt-to-store.ts';
import type { Besides } from './seal-and-send.ts';

/** PutObject. The body is encrypted under its own DEK, stored wrapped in the object's metadata. */
export const putObject: OperationHandler = async (services, context) => {
  const { request, payload, answer, signal } = context;
  const name = { bucket: request.bucket, key: request.key };
  const replaced = await manifestToReplace(services, name, signal);
  const { headers, named } = takeNamedMd5(writeHeadersUpstream(request.headers), request.headers);
  const stored = await encryptToStore(services, {
    name,
    purpose: { kind: 'object', format: services.config.format },
    ...summed(payload),
    length: payload.length,
    signal,
    request: (key, added) => {
      context.keyVersion = key.keyVersion;
      const all = objectHeaders(headers, { ...key, ...added }, services.keys.scheme, named);
      return { method: 'PUT', ...name, headers: all, signal };
    },
  });
  if (services.config.upstreamChecksum === 'none')
    await verifyStored(services, name, stored, request.headers);
  await removeManifest(services, name, replaced);
  const type = payload.checksums().size > 0 ? { 'x-amz-checksum-type': 'FULL_OBJECT' } : {};
  answer.head(stored.status, { ...writeAnswer(stored), ...type });
  await answer.end();
};

/**
 * The body with the checksum to keep: the announced one or, for a small body, S3's default. For a large body the
 * default would cost as much as everything else, and be known only after the metadata have been sent.
 */
function summed(payload: Payload) {
  const { length = 0 } = payload;
  const also = payload.announcesChecksum || length > smallBytes ? undefined : defaultChecksum;
  return {
    source: payload.chunks(also),
    short: (limit: number) => payload.short?.(limit, also),
    announced: payload.announced,
    checksums: payload.checksums,
  };
}

/** S3's default algorithm if the caller names none. */
export const defaultChecksum = 'crc64nvme';

/** `headers` with the envelope of a single body. @throws S3Error MetadataTooLarge */
export function objectHeaders(
  headers: Readonly<Record<string, string>>,
  { key, ciphertext, keyVersion, recovery, checksum, emptySeal, derivation }: FreshKey & Besides,
  { keyName, binding }: WrapScheme,
  named?: NamedMd5,
): Record<string, string> {
  const envelope = {
    ...(derivation !== undefined && { format: 2 as const, derivation }),
    keys: { form: 'single', dek: ciphertext },
    keyName,
    keyVersion,
    binding,
    ...(recovery !== undefined && { recovery }),
    ...(emptySeal !== undefined && { emptySeal }),
  } as const;
  const kept = {
    ...(checksum !== undefined && { checksum }),
    ...(named !== undefined && { md5: sealMd5(key, named.md5) }),
  };
  return withEnvelope(headers, { ...envelope, ...kept }, named?.from);
}

/**
 * Adds the envelope, without the checksum if there is no room for it, and without an MD5 from `content-md5` if there is
 * still none.
 * @throws S3Error MetadataTooLarge if the metadata exceed the store's limit
 */
export function withEnvelope(
  headers: Readonly<Record<string, string>>,
  { checksum, md5, ...envelope }: Envelope,
  md5From: NamedMd5['from'] = 'metadata',
): Record<string, string> {
  const named = md5 === undefined ? {} : { md5 };
  if (checksum !== undefined) {
    const all = { ...headers, ...envelopeHeaders({ ...envelope, ...named, checksum }) };
    if (strictMetadataSize(all) <= maxUserMetadata) return all;
  }
  const all = { ...headers, ...envelopeHeaders({ ...envelope, ...named }) };
  if (md5From === 'content-md5' && strictMetadataSize(all) > maxUserMetadata)
    return withEnvelope(headers, envelope);
  checkUserMetadata(all);
  return all;
}

/**
 * For stores that do not verify trailing checksums: checks that the whole body was stored.
 * @throws S3Error 503 if it was not
 */
export async function verifyStored(
  { upstream, log }: Pick<ObjectServices, 'upstream' | 'log'>,
  name: ObjectName,
  stored: StoredBody,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const {
    status,
    headers: kept,
    body,
  } = await upstream.send({
    method: 'HEAD',
    ...name,
    query: versionOf(stored),
    headers: customerKey(headers),
  });
  body.resume();
  if (status !== 200 || unquote(kept.etag ?? '') !== stored.etag) return replacedMeanwhile(log, status);
  const { format } = stored;
  const expected = hasAside(format, name.key, stored.size) ? 0 : format.storedSize(stored.size);
  if (Number(kept['content-length']) === expected) return;
  throw s3Error('ServiceUnavailable', 'The object store did not keep the whole body. Please retry.');
}

/** The object was overwritten or deleted right after the write, so there is nothing to verify. */
function replacedMeanwhile(log: ObjectServices['log'], status: number): void {
  log.info('proxy.write.unverified', { status });
}

function versionOf({ headers }: StoredBody): [string, string][] {
  const version = headers['x-amz-version-id'];
  return typeof version === 'string' ? [['versionId', version]] : [];
}

const customerKeyPrefix = 'x-amz-server-side-encryption-customer-';

/** The store answers a HEAD of an object encrypted under a customer key only with these headers. */
function customerKey(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        entry[0].startsWith(customerKeyPrefix) && typeof entry[1] === 'string',
    ),
  );
}
