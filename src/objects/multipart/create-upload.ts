import { randomBytes } from 'node:crypto';
import type { ObjectServices, OperationHandler, RequestContext } from '../context.ts';
import { bodyFormat, formatField } from '../format/formats.ts';
import { md5Headers, type ObjectName } from '../format/metadata.ts';
import { sealMd5 } from '../format/sealed-checksums.ts';
import { createKey, type FreshKey } from '../keys/data-keys.ts';
import { s3Error } from '../s3/error.ts';
import {
  responseHeadersDownstream,
  takeNamedMd5,
  userMetadataSize,
  writeHeadersUpstream,
} from '../s3/headers.ts';
import { readUploadChecksum, typeOfUpload, type UploadChecksum } from '../s3/object-checksum.ts';
import { element } from '../s3/xml-text.ts';
import { xmlResult } from '../upstream/upstream.ts';
import { withEnvelope } from '../write/put-object.ts';
import { envelopeChecksum, type UploadRecord, uploadRecordText } from './upload-record.ts';

const answerLimit = 64 * 1024;
/** S3's limit for all headers together; a thousand records stay in memory. */
const recordLimit = 8 * 1024;

/**
 * CreateMultipartUpload. The svc headers are set here, because the store accepts metadata only now; they point to a
 * manifest that Complete will write.
 */
export const createUpload: OperationHandler = async (services, context) => {
  const { request } = context;
  await context.payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const draft = await draftUpload(services, context, name);
  try {
    const uploadId = await createAtStore(services, context, name, draft.headers);
    const record = { ...draft.record, uploadId };
    await beginOrAbort(services, record, draft.sealKey);
    if (record.format === 2) services.uploadKeys.keep(record, draft.key);
    context.answer.head(200, { 'content-type': 'application/xml', ...toldHeaders(draft.record.checksum) });
    await context.answer.end(createdXml(name, uploadId));
  } finally {
    draft.sealKey.fill(0);
    draft.key.fill(0);
  }
};

async function createAtStore(
  services: ObjectServices,
  { request, answer, signal }: RequestContext,
  name: ObjectName,
  headers: Record<string, string>,
): Promise<string> {
  const response = await services.upstream.send({
    method: 'POST',
    ...name,
    query: request.query.entries,
    headers,
    signal,
  });
  const shape = { root: 'InitiateMultipartUploadResult', fields: ['UploadId'] };
  const uploadId = (await xmlResult(response, shape, answerLimit)).top.get('UploadId');
  if (uploadId === undefined) throw s3Error('InternalError', 'The object store named no upload.');
  answer.head(200, responseHeadersDownstream(response.headers));
  return uploadId;
}

const toldHeaders = (checksum: UploadChecksum | undefined): Record<string, string> =>
  checksum === undefined
    ? {}
    : {
        'x-amz-checksum-algorithm': checksum.algorithm.toUpperCase(),
        'x-amz-checksum-type': typeOfUpload(checksum),
      };

function createdXml({ bucket, key }: ObjectName, uploadId: string): string {
  const fields = [element('Bucket', bucket), element('Key', key), element('UploadId', uploadId)].join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields}</InitiateMultipartUploadResult>`;
}

async function draftUpload(services: ObjectServices, { request, signal }: RequestContext, name: ObjectName) {
  const manifest = randomBytes(16).toString('base64url');
  const { format } = services.config;
  const seal = await createKey(services.keys, name, { kind: 'seal', upload: manifest, format }, signal);
  try {
    const sealKey = bodyFormat(format).listKey(seal.key, manifest);
    return { ...draftOf(services, request, name, { manifest, seal }, sealKey), sealKey, key: seal.key };
  } catch (error) {
    seal.key.fill(0);
    throw error;
  }
}

function draftOf(
  services: ObjectServices,
  request: RequestContext['request'],
  name: ObjectName,
  { manifest, seal }: { manifest: string; seal: FreshKey },
  sealKey: Uint8Array,
) {
  const { keyName, binding } = services.keys.scheme;
  const format = formatField(services.config.format);
  const checksum = readUploadChecksum(request.headers);
  const { headers: callers, named } = takeNamedMd5(writeHeadersUpstream(request.headers), {});
  const md5 = named === undefined ? {} : { md5: sealMd5(sealKey, named.md5) };
  const own = withEnvelope(callers, {
    ...format,
    keys: { form: 'pointer', manifest, seal: seal.ciphertext },
    keyName,
    keyVersion: seal.keyVersion,
    binding,
    ...envelopeChecksum(checksum),
    ...md5,
    ...(seal.recovery !== undefined && { recovery: seal.recovery }),
  });
  const headers = { ...own, ...checksumHeaders(services) };
  const record: Omit<UploadRecord, 'uploadId'> = {
    ...name,
    ...format,
    manifest,
    keyName,
    keyVersion: seal.keyVersion,
    seal: seal.ciphertext,
    binding,
    userMetadata: userMetadataSize({ ...callers, ...md5Headers(md5) }),
    repeat: repeatedHeaders(callers),
    ...(checksum !== undefined && { checksum }),
  };
  if (uploadRecordText({ ...record, uploadId: '' }, sealKey).length > recordLimit)
    throw s3Error('InvalidRequest', 'The headers of the upload are too long to be kept.');
  return { headers, record };
}

/** Parts carry a checksum of their ciphertext; S3 accepts one only if the upload was created with that algorithm. */
const checksumHeaders = ({ config }: ObjectServices): Record<string, string> =>
  config.upstreamChecksum === 'none' ? {} : { 'x-amz-checksum-algorithm': 'CRC32' };

/** Aborts the upload if its record cannot be written, because nobody could complete it. */
async function beginOrAbort(
  services: ObjectServices,
  record: UploadRecord,
  sealKey: Uint8Array,
): Promise<void> {
  try {
    await services.uploads.begin(record, sealKey);
  } catch (cause) {
    const { bucket, key, uploadId } = record;
    const abort = services.upstream.send({ method: 'DELETE', bucket, key, query: [['uploadId', uploadId]] });
    await abort.then((response) => response.body.resume()).catch(() => undefined);
    throw s3Error('ServiceUnavailable', 'The record of the upload could not be stored. Please retry.', {
      cause,
    });
  }
}

const names = /^x-amz-(acl|grant-.+|storage-class|server-side-encryption(?!-customer).*)$/;

/** Headers that a later self-copy, which replaces the object's metadata, would otherwise lose. */
const repeatedHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
