/** Bytes that are no HTTP/2, or more of it than a single call needs. The text never quotes them. */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
}
