/** The caller's body after decoding its transfer form (plain, chunked, aws-chunked). */
export interface Payload {
  /** Plaintext bytes as declared (Content-Length or x-amz-decoded-content-length), undefined when the caller did not say. */
  readonly length: number | undefined;
  /**
   * The plaintext, in order. The iteration ends only after length, checksums, digests and
   * signatures have all been found right; otherwise it throws S3Error (BadDigest, IncompleteBody …).
   * Chunks are valid until the next is asked for.
   */
  chunks(): AsyncIterable<Buffer>;
  /** The whole body, checked. @throws S3Error when it is longer than `limit` bytes. */
  read(limit: number): Promise<Buffer>;
}
