/**
 * Stored metadata, a manifest or a body that is not what the proxy wrote.
 * `reason` is a stable word for metrics; the message never holds data.
 */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError';
  readonly reason: EnvelopeFault;

  constructor(reason: EnvelopeFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

export type EnvelopeFault =
  | 'partial-metadata'
  | 'malformed-metadata'
  | 'unbound'
  | 'foreign-key'
  | 'unencrypted'
  | 'manifest-missing'
  | 'manifest-forged'
  | 'record-forged'
  | 'wrong-size'
  | 'authentication-failed';
