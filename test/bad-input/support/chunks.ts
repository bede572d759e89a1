/** One chunk of an unsigned aws-chunked body. */
export const chunk = (data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);

/** The data in chunks of 64 KiB, then the last chunk and these trailer lines. */
export function chunked(data: Buffer, trailers: readonly string[] = []): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < data.length; at += 65_536) chunks.push(chunk(data.subarray(at, at + 65_536)));
  const end = Buffer.from(`0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`);
  return Buffer.concat([...chunks, end]);
}

/** Headers of such a body. */
export const chunkedHeaders = (length: number | string, trailer?: string): Record<string, string> => ({
  'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'x-amz-decoded-content-length': String(length),
  'content-encoding': 'aws-chunked',
  ...(trailer && { 'x-amz-trailer': trailer }),
});
