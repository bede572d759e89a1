/** Memory that grows at its end and that its owner can clear: the caller decides where secrets may lie. */
export interface ByteSink {
  /** What was appended, in place; appending more may move it. */
  readonly bytes: Uint8Array;
  append(bytes: Uint8Array): void;
  /** Makes room for so many bytes in all, so that it need not grow in steps. */
  reserve(length: number): void;
  /** Zeroes what was appended and begins anew. */
  clear(): void;
}
