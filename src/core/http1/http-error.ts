/** Bytes that are not the HTTP/1.1 message that they should be. Never has any of them in its text. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
}
