import { createHash } from 'node:crypto';
import type { ObjectName } from '../../../core/envelope/metadata.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { inward, requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { type ObjectChecksum, readObjectChecksum } from '../../../core/s3/object-checksum.ts';
import { type CompletedPart, parseCompleteMultipart } from '../../../core/s3/request-documents.ts';
import type { Exchange, Handler, ProxyContext } from '../context.ts';
import { answerSlowly } from '../server/slow-answer.ts';
import { refusal } from '../upstream/upstream.ts';
import { type Completed, completedAnswer, completedObject, completeOnce } from './complete-once.ts';
import { removeManifest } from './manifest-store.ts';
import type { UploadRecord } from './upload-record.ts';

/** 10,000 parts with a checksum each. */
const listLimit = 4 * 1024 * 1024;

interface Asked {
  readonly parts: readonly CompletedPart[];
  readonly named: ObjectChecksum | undefined;
  /** Hash of all that decides on the answer. Of checksums too: it leaves this process by no way. */
  readonly asked: string;
}

interface Flight {
  readonly asked: string;
  readonly result: Promise<Completed>;
}

/** What is being completed in this process, by upload id. */
const flightsOf = new WeakMap<ProxyContext, Map<string, Flight>>();

/**
 * CompleteMultipartUpload. Repeating it with the same list gives the same answer,
 * but for checksums, which are verified by the first one only; two at once are one.
 * It goes on when the caller goes away, so that a retry finds it done.
 */
export const completeUpload: Handler = async (context, exchange) => {
  const text = (await exchange.payload.read(listLimit)).toString();
  const parts = parseCompleteMultipart(text).map((part) => ({ ...part, etag: inward(part.etag) }));
  const named = readObjectChecksum(exchange.request.headers);
  const location = `http://${exchange.request.headers.host ?? 'localhost'}`;
  const asked = createHash('sha256')
    .update(JSON.stringify([exchange.request.bucket, exchange.request.key, named]))
    .update(text);
  const completed = singleFlight(context, exchange, { parts, named, asked: asked.digest('base64') });
  await answerSlowly(
    context,
    exchange,
    completed.then((result) => completedAnswer(result, location)),
  );
};

function singleFlight(
  context: ProxyContext,
  exchange: Exchange,
  { parts, named, asked }: Asked,
): Promise<Completed> {
  const flights = flightsOf.get(context) ?? new Map<string, Flight>();
  flightsOf.set(context, flights);
  const uploadId = exchange.request.query.get('uploadId') ?? '';
  const running = flights.get(uploadId);
  if (running?.asked === asked) return running.result;
  if (running !== undefined)
    throw s3Error(
      'OperationAborted',
      'Another Complete of this upload, with other parts or checksums, is under way.',
    );
  const result = completeOnce(context, exchange, parts, named).finally(() => flights.delete(uploadId));
  flights.set(uploadId, { asked, result });
  return result;
}

/** AbortMultipartUpload: the store forgets the parts, then the records go; what fails there is left to `svc proxy gc`. */
export const abortUpload: Handler = async (context, { request, answer, signal, log, payload }) => {
  await payload.read(0);
  const name = { bucket: request.bucket, key: request.key };
  const uploadId = request.query.get('uploadId') ?? '';
  const record = await context.uploads.find(name, uploadId).catch(() => undefined);
  const response = await context.upstream.send({
    method: 'DELETE',
    ...name,
    query: request.query.entries,
    headers: requestHeadersUpstream(request.headers),
    signal,
  });
  if (response.status >= 300) throw await refusal(response);
  response.body.resume();
  await forget(context, name, uploadId, record).catch((error: Error) => {
    log.warn('proxy.upload.records-left', { error: error.message });
  });
  answer.head(204, {});
  await answer.end();
};

/** A Complete that failed may have left a manifest. Stores may let a completed upload be aborted too. */
async function forget(
  context: ProxyContext,
  name: ObjectName,
  uploadId: string,
  record: UploadRecord | undefined,
): Promise<void> {
  await context.uploads.abandon(name, uploadId);
  if (record === undefined || (await context.manifests.find(name, record.manifest)) === undefined) return;
  if ((await completedObject(context, record)) === undefined)
    await removeManifest(context, name, record.manifest);
}
