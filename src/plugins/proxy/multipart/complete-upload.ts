import { type CompletedPart, parseCompleteMultipart } from '../../../core/s3/complete-multipart.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { inward } from '../../../core/s3/etag.ts';
import type { Exchange, Handler, ProxyContext } from '../context.ts';
import { completeOnce } from './complete-once.ts';
import { type Completed, completedAnswer } from './completed.ts';
import { listHash } from './done-record.ts';
import { answerSlowly } from './slow-answer.ts';

/** 10,000 parts with a checksum each. */
const listLimit = 4 * 1024 * 1024;

interface Flight {
  readonly list: string;
  readonly result: Promise<Completed>;
}

/** What is being completed in this process, by upload id. */
const flightsOf = new WeakMap<ProxyContext, Map<string, Flight>>();

/**
 * CompleteMultipartUpload. Repeating it with the same list gives the same answer; two at once are one.
 * It goes on when the caller goes away, so that a retry finds it done.
 */
export const completeUpload: Handler = async (context, exchange) => {
  const text = (await exchange.payload.read(listLimit)).toString();
  const parts = parseCompleteMultipart(text).map((part) => ({ ...part, etag: inward(part.etag) }));
  const location = `http://${exchange.request.headers.host ?? 'localhost'}`;
  const completed = singleFlight(context, exchange, parts);
  await answerSlowly(
    context,
    exchange,
    completed.then((result) => completedAnswer(result, location)),
  );
};

function singleFlight(
  context: ProxyContext,
  exchange: Exchange,
  parts: readonly CompletedPart[],
): Promise<Completed> {
  const flights = flightsOf.get(context) ?? new Map<string, Flight>();
  flightsOf.set(context, flights);
  const uploadId = exchange.request.query.get('uploadId') ?? '';
  const list = listHash(exchange.request, parts);
  const running = flights.get(uploadId);
  if (running?.list === list) return running.result;
  if (running !== undefined)
    throw s3Error('OperationAborted', 'Another Complete of this upload, with other parts, is under way.');
  const result = completeOnce(context, exchange, parts).finally(() => flights.delete(uploadId));
  flights.set(uploadId, { list, result });
  return result;
}
