import { type EnvelopeFormat, storedBodySize } from '../../../core/envelope/manifest.ts';
import type { Migrated, StoredAs } from './migrate-object.ts';

/** What a run has seen and done. An object of which versions are kept counts once for each. */
export interface MigrateCounts {
  /** Objects, or versions, that the store has listed; helper objects left out. */
  listed: number;
  /** Looked at, whatever came of it. */
  seen: number;
  /** As they are to be since before this run. */
  current: number;
  /** Written, read back and found right. */
  migrated: number;
  /** Of these, replaced by somebody else before they could be read back. */
  replaced: number;
  /** What a dry run leaves to be done. */
  pending: number;
  /** Older versions that are not as they should be: no store replaces them. */
  left: number;
  /** Of these, plaintext. */
  leftPlaintext: number;
  /** Deleted after they were listed. */
  gone: number;
  /** Of what was migrated, or is to be: what it is stored as before. */
  fromPlaintext: number;
  fromFormat1: number;
  /** Plaintext bytes of what was migrated, or is to be. */
  bytes: number;
}

/** What a dry run expects of a run beside which nobody writes. */
export interface MigrateEstimate {
  /** To the store. */
  readonly requests: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** HEAD, ACL, tags, body, PUT, and the body again. */
const requestsOfWhole = 6;
/** Of an object with a lock: retention and legal hold. */
const requestsOfLock = 2;
/** Create, Complete and their records, part list and what is looked up for them, beside two for each part. */
const requestsOfUpload = 16;

export interface TallyPlan {
  readonly format: EnvelopeFormat;
  readonly partSize: number;
  readonly locked: boolean;
  readonly versioned: boolean;
}

export class MigrateTally {
  readonly counts: MigrateCounts = {
    ...{ listed: 0, seen: 0, current: 0, migrated: 0, replaced: 0, pending: 0, left: 0, leftPlaintext: 0 },
    ...{ gone: 0, fromPlaintext: 0, fromFormat1: 0, bytes: 0 },
  };
  readonly #plan: TallyPlan;
  #requests = 0;
  #bytesRead = 0;
  #bytesWritten = 0;

  constructor(plan: TallyPlan) {
    this.#plan = plan;
  }

  add(result: Migrated): void {
    const { counts } = this;
    counts[result.as]++;
    if (result.as === 'gone' || result.as === 'current') return;
    if (result.as === 'left') return this.#leave(result.from);
    if (result.replaced) counts.replaced++;
    counts[result.from === 'plaintext' ? 'fromPlaintext' : 'fromFormat1']++;
    counts.bytes += result.size;
    this.#expect(result.size, result.parts);
    if (!this.#plan.versioned) return;
    counts.left++;
    this.#leave(result.from);
  }

  /** Listings and looks at what is left alone included. */
  get estimate(): MigrateEstimate {
    const looks = this.counts.seen - this.counts.pending - this.counts.migrated;
    const pages = Math.ceil(this.counts.listed / 1000) + 1;
    const requests = this.#requests + looks + pages;
    return { requests, bytesRead: this.#bytesRead, bytesWritten: this.#bytesWritten };
  }

  #leave(from: StoredAs): void {
    if (from === 'plaintext') this.counts.leftPlaintext++;
  }

  #expect(size: number, listed: number): void {
    const { format, partSize, locked } = this.#plan;
    const parts = listed > 0 ? listed : size > partSize ? Math.ceil(size / partSize) : 0;
    this.#requests += requestsOfWhole + (locked ? requestsOfLock : 0);
    if (parts > 0) this.#requests += requestsOfUpload + 2 * parts;
    const stored = storedBodySize(format, size);
    this.#bytesRead += size + stored;
    this.#bytesWritten += stored;
  }
}
