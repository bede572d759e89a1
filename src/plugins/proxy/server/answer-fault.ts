import type { S3Error } from '../../../core/s3/error.ts';
import { errorXml } from '../../../core/s3/error-xml.ts';
import type { HttpAnswer } from './http-answer.ts';

export interface FaultContext {
  readonly method: string;
  readonly resource: string;
  readonly requestId: string;
  /** Called between the answer and its end, while the caller may still be sending. */
  readonly drain: () => Promise<void>;
}

/**
 * Answers an error, or breaks the connection where the head has gone out already.
 * The end waits until the rest of the caller's body was looked at: a connection closed
 * over unread bytes is reset, and the caller would not see the answer.
 */
export async function answerFault(answer: HttpAnswer, error: S3Error, context: FaultContext): Promise<void> {
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
  await answer.write(xml);
  await context.drain();
  await answer.end();
}

const retryAfter = ({ status }: S3Error): Record<string, string> =>
  status === 503 ? { 'retry-after': '1' } : {};
