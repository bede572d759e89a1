import type { EnvelopeFormat } from '../../../objects/format/body-format.ts';
import { bodyFormat } from '../../../objects/format/formats.ts';
import type { Migrated, StoredAs } from './migrate-object.ts';

/** Counts of a run. In a bucket with versioning, each version counts. */
export interface MigrateCounts {
  /** Objects or versions listed by the store, without helper objects. */
  listed: number;
  /** Examined, whatever the result. */
  seen: number;
  /** Already stored as they should be. */
  current: number;
  /** Written, read back and verified. */
  migrated: number;
  /** Of `migrated`: replaced by somebody else before they could be read back. */
  replaced: number;
  /** To be migrated, found by a dry run. */
  pending: number;
  /** Older versions not stored as they should be; stores cannot replace them. */
  left: number;
  /** Of `left`: plaintext. */
  leftPlaintext: number;
  /** Deleted after they were listed. */
  gone: number;
  /** Of `migrated` and `pending`: objects that were plaintext before. */
  fromPlaintext: number;
  fromFormat1: number;
  /** Plaintext bytes of `migrated` and `pending`. */
  bytes: number;
}

/** A dry run's estimate for a run without other writers. */
export interface MigrateEstimate {
  /** Requests to the store. */
  readonly requests: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** HEAD, ACL, tags, body, PUT, and the body again. */
const requestsOfWhole = 6;
/** For an object lock: retention and legal hold. */
const requestsOfLock = 2;
/** Create, Complete, their records, the part list and lookups, besides two requests for each part. */
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

  /** Includes listings, and HEAD requests for objects that are left alone. */
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
    const stored = bodyFormat(format).storedSize(size);
    this.#bytesRead += size + stored;
    this.#bytesWritten += stored;
  }
}
