import { createHash } from 'node:crypto';
import { unlessAborted } from '../../runtime/lifecycle/wait.ts';
import { lastUse } from '../../runtime/memory.ts';
import type { ObjectServices, OperationHandler, RequestContext } from '../context.ts';
import type { ObjectName } from '../format/metadata.ts';
import { memoryCosts } from '../held-memory.ts';
import { s3Error } from '../s3/error.ts';
import { inward, requestHeadersUpstream } from '../s3/headers.ts';
import { readObjectChecksum } from '../s3/object-checksum.ts';
import { parseCompleteMultipart } from '../s3/request-documents.ts';
import { respondSlowly } from '../slow-answer.ts';
import { refusal } from '../upstream/upstream.ts';
import { completedAnswer, completeOnce, type PartsToComplete } from './complete-once.ts';
import { type Completed, removeUnusedManifest } from './completed-object.ts';
import type { UploadRecord } from './upload-record.ts';

/** 10,000 parts with a checksum each. */
const listLimit = 4 * 1024 * 1024;

interface Asked extends PartsToComplete {
  /** Hash of everything that determines the answer, checksums included; never leaves this process. */
  readonly asked: string;
}

interface Flight {
  readonly asked: string;
  readonly result: Promise<Completed>;
}

/** Running Completes of this process, by upload id. */
const flightsOf = new WeakMap<ObjectServices, Map<string, Flight>>();

/**
 * CompleteMultipartUpload. Repeating it with the same list gives the same answer, except for checksums, which only the
 * first one verifies; concurrent equal requests share one run. It continues when the caller disconnects, so that a
 * retry finds it done.
 */
export const completeUpload: OperationHandler = async (services, context) => {
  const { headers } = context.request;
  const location = `http://${headers.host ?? 'localhost'}`;
  const body = await context.payload.read(listLimit);
  const asked = createHash('sha256')
    .update(JSON.stringify([context.request.bucket, context.request.key, readObjectChecksum(headers)]))
    .update(body)
    .digest('base64');
  const running = flightsOf.get(services)?.get(context.request.query.get('uploadId') ?? '');
  const completed =
    running?.asked === asked
      ? running.result
      : singleFlight(services, context, { ...(await partsOf(services, context, body)), asked });
  await respondSlowly(
    services,
    context,
    completed.then((result) => completedAnswer(result, location)),
  );
};

/** Takes memory for the parts before they are read from the document. */
async function partsOf(
  services: ObjectServices,
  { request, memory, signal }: RequestContext,
  body: Buffer,
): Promise<PartsToComplete> {
  const held = services.memory.hold('records', signal);
  try {
    const most = Math.min(maxParts, Math.floor(body.length / shortestPart)) * memoryCosts.completedPart;
    await held.take(most);
    const parts = lastUse(body, parseCompleteMultipart).map((part) => ({ ...part, etag: inward(part.etag) }));
    const named = readObjectChecksum(request.headers);
    held.release(most - parts.length * memoryCosts.completedPart);
    memory.of('bodies').release();
    return { parts, named, held };
  } catch (error) {
    held.release();
    throw error;
  }
}

/** Bytes of `<Part><PartNumber>1</PartNumber><ETag/></Part>`, nearly. */
const shortestPart = 40;
const maxParts = 10_000;

/** The memory is that of the run, which goes on without its caller. */
function singleFlight(
  services: ObjectServices,
  context: RequestContext,
  { parts, named, asked, held }: Asked,
): Promise<Completed> {
  const flights = flightsOf.get(services) ?? new Map<string, Flight>();
  flightsOf.set(services, flights);
  const uploadId = context.request.query.get('uploadId') ?? '';
  const running = flights.get(uploadId);
  if (running !== undefined) held.release();
  if (running?.asked === asked) return running.result;
  if (running !== undefined)
    throw s3Error(
      'OperationAborted',
      'Another Complete of this upload, with other parts or checksums, is under way.',
    );
  const result = completeOnce(services, context, { parts, named, held }).finally(() => {
    held.release();
    flights.delete(uploadId);
  });
  flights.set(uploadId, { asked, result });
  return result;
}

/**
 * AbortMultipartUpload: the store drops the parts, then the records are deleted; `svc proxy gc` cleans up after
 * failures. Waits for a Complete of the upload that runs in this process, so that the store knows how it ended.
 */
export const abortUpload: OperationHandler = async (services, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const running = flightsOf.get(services)?.get(uploadId)?.result;
  if (running !== undefined) await unlessAborted(Promise.allSettled([running]), signal);
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

async function forget(
  services: ObjectServices,
  name: ObjectName,
  uploadId: string,
  record: UploadRecord | undefined,
): Promise<void> {
  await services.uploads.abandon(name, uploadId);
  if (record !== undefined) await removeUnusedManifest(services, record);
}
