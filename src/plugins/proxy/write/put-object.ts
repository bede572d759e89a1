import type { IncomingHttpHeaders } from 'node:http';
import { storedBodySize } from '../../../core/envelope/manifest.ts';
import {
  type Envelope,
  envelopeHeaders,
  hasNoBody,
  type ObjectName,
} from '../../../core/envelope/metadata.ts';
import { sealMd5 } from '../../../core/envelope/sealed-checksums.ts';
import { s3Error } from '../../../core/s3/error.ts';
import {
  checkUserMetadata,
  maxUserMetadata,
  type NamedMd5,
  strictMetadataSize,
  takeNamedMd5,
  unquote,
  writeHeadersUpstream,
} from '../../../core/s3/headers.ts';
import type { Payload } from '../../../core/s3/received-payload.ts';
import type { OperationHandler, ProxyServices } from '../context.ts';
import type { FreshKey, WrapScheme } from '../data-keys.ts';
import { manifestToReplace, removeManifest } from '../multipart/manifest-store.ts';
import { smallBytes } from './ciphertext-spool.ts';
import { encryptToStore, type StoredBody, writeAnswer } from './encrypt-to-store.ts';
import type { Besides } from './seal-and-send.ts';

/** PutObject: the body is encrypted under a DEK of its own, which is stored wrapped in the object's metadata. */
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
 * The body with the checksum that is kept: the announced one, or where there is none S3's own default. That costs as much
 * as the rest of a large body, and would be known only when its metadata have left.
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

/** Of S3, where the caller names none. */
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
 * Without the checksum where there is no room for it, and then without an MD5 that was not the caller's own metadata.
 * @throws S3Error MetadataTooLarge when both together exceed what the store takes
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
 * For stores that check no trailing checksum: looks whether the whole body was kept.
 * @throws S3Error 503 when it was not
 */
export async function verifyStored(
  { upstream, log }: Pick<ProxyServices, 'upstream' | 'log'>,
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
  const format = 'salt' in stored.proof ? 2 : 1;
  const aside = format === 1 && hasNoBody(name.key, stored.size);
  const expected = aside ? 0 : storedBodySize(format, stored.size);
  if (Number(kept['content-length']) === expected) return;
  throw s3Error('ServiceUnavailable', 'The object store did not keep the whole body. Please retry.');
}

/** Somebody else's write or delete came right after: nothing is left to look at. */
function replacedMeanwhile(log: ProxyServices['log'], status: number): void {
  log.info('proxy.write.unverified', { status });
}

function versionOf({ headers }: StoredBody): [string, string][] {
  const version = headers['x-amz-version-id'];
  return typeof version === 'string' ? [['versionId', version]] : [];
}

const customerKeyPrefix = 'x-amz-server-side-encryption-customer-';

/** Without them the store answers no HEAD of an object that it has encrypted under the caller's key. */
function customerKey(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        entry[0].startsWith(customerKeyPrefix) && typeof entry[1] === 'string',
    ),
  );
}
