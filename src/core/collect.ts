/**
 * What a body has, in one piece.
 * @param most bytes
 * @param tooLong makes what is thrown as soon as there are more
 * @param free told of each chunk that has been copied or is not wanted any more, where the caller owns them
 * @returns memory of its own
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
