import type { Answer, Exchange } from '../context.ts';
import type { ReadOptions } from './object-reader.ts';

/** Options by which a reader of plaintext may be ended when it takes too long. */
export const readOptions = ({ signal, answer }: Exchange): ReadOptions => ({
  signal,
  evict: (reason) => answer.destroy(reason),
});

/**
 * Sends the plaintext that `headers` announce. The head goes out with the first chunk, so
 * that what fails before is answered as an error; what fails later breaks the connection.
 */
export async function deliver(
  { answer }: Exchange,
  status: number,
  headers: Readonly<Record<string, string>>,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const length = Number(headers['content-length']);
  try {
    await send(answer, chunks, length, () => answer.head(status, headers));
  } catch (error) {
    if (answer.started) answer.destroy(error as Error);
    throw error;
  }
}

async function send(
  answer: Answer,
  chunks: AsyncIterable<Buffer>,
  length: number,
  head: () => void,
): Promise<void> {
  let missing = length;
  for await (const chunk of chunks) {
    if (chunk.length > missing) throw new RangeError('more plaintext than was announced');
    if (missing === length) head();
    missing -= chunk.length;
    if (missing > 0) await answer.write(chunk);
    else if (chunk.length > 0) await answer.end(chunk);
  }
  if (missing > 0) throw new RangeError('less plaintext than was announced');
  if (length > 0) return;
  head();
  await answer.end();
}
