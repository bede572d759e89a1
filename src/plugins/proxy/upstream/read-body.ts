import { collect } from '../../../core/collect.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { HeldAnswers } from './answer-room.ts';
import { unavailable } from './failures.ts';
import type { UpstreamResponse } from './upstream.ts';

/**
 * Reads a body whole.
 * @param held takes the room for it, as it comes; absent where `limit` is small
 * @throws S3Error when it is longer than `limit` bytes
 */
export async function readBody(
  { body }: UpstreamResponse,
  limit: number,
  held?: HeldAnswers,
): Promise<Buffer> {
  const tooLong = () => s3Error('InternalError', 'The object store answered with more than it should.');
  const bounded = held === undefined ? body : withRoom(body, held);
  try {
    return await collect(bounded, limit, tooLong);
  } catch (error) {
    throw unavailable(error);
  }
}

async function* withRoom(body: AsyncIterable<Buffer>, held: HeldAnswers): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    await held.take(chunk.length);
    yield chunk;
  }
}
