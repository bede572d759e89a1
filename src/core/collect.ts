/**
 * Reads a whole body into one buffer.
 * @param most bytes
 * @param tooLong makes the error for a longer body
 * @param free called with each chunk that was copied or is not needed, if the caller owns them
 * @returns a new buffer
 */
export async function collect(
  body: AsyncIterable<Buffer>,
  most: number,
  tooLong: () => Error,
  free: (chunk: Buffer) => void = () => undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > most) throw tooLong();
    }
  } catch (error) {
    for (const chunk of chunks) free(chunk);
    throw error;
  }
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    free(chunk);
  }
  return whole;
}
