import { createHash } from 'node:crypto';
import type { ObjectName } from '../../../core/envelope/metadata.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { inward, requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { type ObjectChecksum, readObjectChecksum } from '../../../core/s3/object-checksum.ts';
import { type CompletedPart, parseCompleteMultipart } from '../../../core/s3/request-documents.ts';
import type { OperationHandler, ProxyServices, RequestContext } from '../context.ts';
import { respondSlowly } from '../server/slow-answer.ts';
import { refusal } from '../upstream/upstream.ts';
import { type Completed, completedAnswer, completedObject, completeOnce } from './complete-once.ts';
import { removeManifest } from './manifest-store.ts';
import type { UploadRecord } from './upload-record.ts';

/** 10,000 parts with a checksum each. */
const listLimit = 4 * 1024 * 1024;

interface Asked {
  readonly parts: readonly CompletedPart[];
  readonly named: ObjectChecksum | undefined;
  /** Hash of everything that determines the answer, checksums included; never leaves this process. */
  readonly asked: string;
}

interface Flight {
  readonly asked: string;
  readonly result: Promise<Completed>;
}

/** Running Completes of this process, by upload id. */
const flightsOf = new WeakMap<ProxyServices, Map<string, Flight>>();

/**
 * CompleteMultipartUpload. Repeating it with the same list gives the same answer, except for checksums, which only the
 * first one verifies; concurrent equal requests share one run. It continues when the caller disconnects, so that a
 * retry finds it done.
 */
export const completeUpload: OperationHandler = async (services, context) => {
  const body = await context.payload.read(listLimit);
  const parts = parseCompleteMultipart(body).map((part) => ({ ...part, etag: inward(part.etag) }));
  const named = readObjectChecksum(context.request.headers);
  const location = `http://${context.request.headers.host ?? 'localhost'}`;
  const asked = createHash('sha256')
    .update(JSON.stringify([context.request.bucket, context.request.key, named]))
    .update(body);
  const completed = singleFlight(services, context, { parts, named, asked: asked.digest('base64') });
  await respondSlowly(
    services,
    context,
    completed.then((result) => completedAnswer(result, location)),
  );
};

function singleFlight(
  services: ProxyServices,
  context: RequestContext,
  { parts, named, asked }: Asked,
): Promise<Completed> {
  const flights = flightsOf.get(services) ?? new Map<string, Flight>();
  flightsOf.set(services, flights);
  const uploadId = context.request.query.get('uploadId') ?? '';
  const running = flights.get(uploadId);
  if (running?.asked === asked) return running.result;
  if (running !== undefined)
    throw s3Error(
      'OperationAborted',
      'Another Complete of this upload, with other parts or checksums, is under way.',
    );
  const result = completeOnce(services, context, parts, named).finally(() => flights.delete(uploadId));
  flights.set(uploadId, { asked, result });
  return result;
}

/**
 * AbortMultipartUpload: the store drops the parts, then the records are deleted; `svc proxy gc` cleans up after
 * failures.
 */
export const abortUpload: OperationHandler = async (services, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const record = await services.uploads.find(name, uploadId).catch(() => undefined);
  const response = await services.upstream.send({
    method: 'DELETE',
    ...name,
    query: request.query.entries,
    headers: requestHeadersUpstream(request.headers),
    signal,
  });
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  if (record !== undefined) {
    services.partKeys.forget(record.manifest);
    services.uploadKeys.forget(record);
  }
  await forget(services, name, uploadId, record).catch((error: Error) => {
    log.warn('proxy.upload.records-left', { error: error.message });
  });
  answer.head(204, {});
  await answer.end();
};

/**
 * A failed Complete may have left a manifest; it stays if the upload was completed, since some stores accept an abort
 * even then.
 */
async function forget(
  services: ProxyServices,
  name: ObjectName,
  uploadId: string,
  record: UploadRecord | undefined,
): Promise<void> {
  await services.uploads.abandon(name, uploadId);
  if (record === undefined || (await services.manifests.find(name, record.manifest)) === undefined) return;
  if ((await completedObject(services, record)) === undefined)
    await removeManifest(services, name, record.manifest);
}
