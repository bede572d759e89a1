import type { EnvelopeFormat } from './body-format.ts';

/** Tests what recovery keys alone can open; writes nothing and asks no key server. */
export interface RehearsalPlan {
  readonly bucket: string;
  /** Key prefix of the sampled objects; empty: all. */
  readonly prefix: string;
  /** Number of random objects, besides the oldest, the newest and the largest. */
  readonly sample: number;
  /** Stored bytes up to which the body of an object, or of a part in format 1, is read in full. */
  readonly readWhole: number;
  readonly signal: AbortSignal;
  /** @param opened number of sampled objects processed so far */
  readonly onProgress: (listed: number, opened: number) => void;
}

/** What recovery keys alone could open. */
export interface RecoveryRehearsal {
  /** Objects below the prefix, without helper objects. */
  readonly listed: number;
  readonly opened: readonly RehearsedObject[];
  /** Sampled objects that svc did not encrypt. */
  readonly unencrypted: number;
  /** Sampled objects that were deleted before they could be read. */
  readonly gone: number;
  /** Sampled objects that the credentials may not read. */
  readonly denied: number;
  readonly faults: readonly RehearsalFault[];
  /** The error that ended the rehearsal early. */
  readonly endedBy: Error | undefined;
}

/** Extent of a body that was authenticated: the whole, its beginning and end, or only its keys. */
export type RehearsedDepth = 'whole' | 'ends' | 'keys';

export interface RehearsedObject {
  readonly key: string;
  readonly format: EnvelopeFormat;
  /** Number of parts of a multipart object. */
  readonly parts?: number;
  readonly depth: RehearsedDepth;
}

/** An object that could not be opened. */
export interface RehearsalFault {
  readonly key: string;
  /** Stable code of the failure in the envelope or the store. */
  readonly reason: string;
  readonly message: string;
}
