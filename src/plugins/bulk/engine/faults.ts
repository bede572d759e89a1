import { isVaultError } from '../../../keyserver/contract.ts';
import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { S3Error } from '../../../objects/s3/error.ts';
import { messageOf } from '../../../runtime/errors.ts';

/** An object that a run could not process. */
export interface Fault {
  readonly key: string;
  /** Stable code of the failure in the envelope, the key server, the store or the file system. */
  readonly reason: string;
  readonly message: string;
}

export interface FaultReport {
  /** The first ones; `faultCount` counts all. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly faultsByReason: Readonly<Record<string, number>>;
}

/**
 * What a command knows of its own failures: the reason of a fault of one object, or the error that ends the run;
 * undefined for all others.
 */
export type FaultJudge = (error: unknown) => string | Error | undefined;

/** Further faults are only counted. */
const maxListed = 1_000;
/** After this many consecutive failures of the store, the store is at fault and not the objects. */
const maxUnavailable = 16;

/** Store keys are at most this long, and no message needs to be longer. */
const cut = (text: string) => (text.length > 1024 ? `${text.slice(0, 1024)}…` : text);

/** Separates faults of single objects, which are reported at the end, from errors that end the run. */
export class Faults {
  readonly listed: Fault[] = [];
  readonly byReason: Record<string, number> = {};
  count = 0;
  #unavailable = 0;
  readonly #judge: FaultJudge;

  constructor(judge: FaultJudge = () => undefined) {
    this.#judge = judge;
  }

  get report(): FaultReport {
    return { faults: this.listed, faultCount: this.count, faultsByReason: this.byReason };
  }

  succeeded(): void {
    this.#unavailable = 0;
  }

  /** @throws errors that end the run: key server or store unavailable, disk full */
  add(key: string, error: unknown): void {
    const reason = this.#judge(error) ?? this.#reasonOf(error);
    if (typeof reason !== 'string') throw reason ?? error;
    this.count++;
    this.byReason[reason] = (this.byReason[reason] ?? 0) + 1;
    if (this.listed.length >= maxListed) return;
    this.listed.push({ key: cut(key), reason, message: cut(messageOf(error)) });
  }

  #reasonOf(error: unknown): string | undefined {
    if (error instanceof EnvelopeError) return error.reason;
    if (isVaultError(error)) {
      if (error.kind === 'rejected') return 'key-refused';
      return error.kind === 'expired-version' ? error.kind : undefined;
    }
    if (!(error instanceof S3Error)) return undefined;
    if (error.status < 500) return error.code;
    return ++this.#unavailable < maxUnavailable ? error.code : undefined;
  }
}
