import { errorXml, type S3Error } from '../../../objects/s3/error.ts';
import type { HttpResponseWriter } from './client-streams.ts';

export interface FaultContext {
  readonly method: string;
  readonly resource: string;
  readonly requestId: string;
  /** Called before the response ends, while the caller may still be sending. */
  readonly drain: () => Promise<void>;
}

/**
 * Sends an error response, or breaks the connection if the head has already gone out. The end waits until the rest of
 * the caller's body was read: a connection closed with unread bytes is reset, and the caller would miss the response.
 */
export async function answerFault(
  answer: HttpResponseWriter,
  error: S3Error,
  context: FaultContext,
): Promise<void> {
  if (answer.started) return answer.destroy(error);
  if (context.method === 'HEAD' || error.status === 304) {
    answer.head(error.status, retryAfter(error));
    return answer.end();
  }
  const xml = Buffer.from(errorXml(error, context));
  answer.head(error.status, {
    'content-type': 'application/xml',
    'content-length': String(xml.length),
    ...retryAfter(error),
  });
  // drains meanwhile: behind another response on its connection this one waits, and the caller's bytes would pile up
  await Promise.all([answer.write(xml), context.drain()]);
  await answer.end();
}

const retryAfter = ({ status }: S3Error): Record<string, string> =>
  status === 503 ? { 'retry-after': '1' } : {};
