import { EnvelopeError } from '../../../core/envelope/error.ts';
import { passedResponseHeaders } from '../../../core/s3/headers.ts';
import { droppedBuffers } from '../../../runtime/memory/dropped-buffers.ts';
import type { Exchange } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

/**
 * The store's 304 or error as it is, to a request for the whole.
 * @throws EnvelopeError `wrong-size` for a success, because only a 200 was asked for and is looked at, and for a
 *   416: no range was asked for, and callers would believe the size in it.
 */
export async function passRefusalOn(exchange: Exchange, response: UpstreamResponse): Promise<void> {
  if (response.status >= 300 && response.status !== 416) return passOn(exchange, response);
  response.body.destroy();
  throw new EnvelopeError('wrong-size', `the store answered ${response.status} to a request for the whole`);
}

/** The store's answer as it is: an object that is not encrypted, a 304 or an error. */
export async function passOn(
  { answer }: Exchange,
  { status, headers, body }: UpstreamResponse,
): Promise<void> {
  answer.head(status, passedResponseHeaders(headers));
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      await answer.write(chunk);
      droppedBuffers(chunk.length);
    }
    await answer.end();
  } catch (error) {
    if (answer.started) answer.destroy(error as Error);
    throw error;
  }
}
