/**
 * What a body has, in one piece.
 * @param most bytes
 * @param tooLong makes what is thrown as soon as there are more
 */
export async function collect(
  body: AsyncIterable<Buffer>,
  most: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
