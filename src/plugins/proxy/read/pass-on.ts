import { passedResponseHeaders } from '../../../core/s3/headers.ts';
import { droppedBuffers } from '../../../runtime/memory/dropped-buffers.ts';
import type { Exchange } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

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
