import { s3Error } from '../../../core/s3/error-catalog.ts';
import { unavailable } from './failures.ts';
import type { ReadBody } from './upstream.ts';

export const readBody: ReadBody = async ({ body }, limit) => {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit)
        throw s3Error('InternalError', 'The object store answered with more than it should.');
      chunks.push(chunk);
    }
  } catch (error) {
    throw unavailable(error);
  }
  return Buffer.concat(chunks, length);
};
