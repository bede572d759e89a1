/** What the proxy counts. Labels are operation names and stable reasons, never buckets or keys. */
export interface ProxyMetrics {
  request(operation: string, status: number, seconds: number): void;
  /** A stored object that was refused: reason of the EnvelopeError. */
  refused(reason: string): void;
  bytes(direction: 'encrypted' | 'decrypted', count: number): void;
}
