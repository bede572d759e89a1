import type { Arbitrary } from 'fast-check';

/** A parser of what comes from outside, with the inputs that would be the worst for it. */
export interface UntrustedInput {
  readonly name: string;
  /** File of the parser. */
  readonly parser: string;
  readonly from: 'caller' | 'store' | 'key server' | 'registry' | 'API server' | 'peer';
  /** Complete inputs that know the structure, whole and broken. */
  readonly arbitrary: Arbitrary<Buffer>;
  /** The worst complete inputs of the allowed size, by name. */
  readonly worst: Readonly<Record<string, () => Buffer>>;
  /** As what ships calls it. */
  readonly parse: (input: Buffer) => unknown;
  /** Whether an error is an answer to the sender. Any other one is a failure of the parser. */
  readonly refuses: (error: unknown) => boolean;
  /** Bytes of heap that an input may take besides those for each of its bytes; 256 KiB by default. */
  readonly constant?: number;
  /** Bytes of heap for each of its bytes, garbage included; 8 by default. */
  readonly heapPerByte?: number;
}
