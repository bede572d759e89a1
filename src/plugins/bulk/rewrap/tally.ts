import type { NeededKey, Rewrapped } from './rewrap-object.ts';

/** Counts of a run. In a bucket with versioning, each version counts. */
export interface RewrapCounts {
  /** Objects or versions listed by the store, without helper objects. */
  listed: number;
  /** Examined, whatever the result. */
  seen: number;
  /** Already wrapped by the target. */
  current: number;
  /** Rewrapped into their headers. */
  copied: number;
  /** Rewrapped into a record. */
  recorded: number;
  /** To be rewrapped, found by a dry run. */
  pending: number;
  unencrypted: number;
  /** Deleted after they were listed. */
  gone: number;
}

/** A transit key version, and how much cannot be read without it. */
export interface KeyUse extends NeededKey {
  readonly objects: number;
  /** Versions that are not the latest of their object. */
  readonly olderVersions: number;
  /** Open multipart uploads. */
  readonly uploads: number;
}

/** Bounded because anyone who can write to the bucket chooses the names. */
const maxUses = 1_000;

/** Counts key uses by name and version, and reasons why keys went into records. */
export class RewrapTally {
  readonly counts: RewrapCounts = {
    ...{ listed: 0, seen: 0, current: 0, copied: 0, recorded: 0, pending: 0, unencrypted: 0, gone: 0 },
  };
  readonly because: Record<string, number> = {};
  readonly #uses = new Map<string, KeyUse>();

  add(result: Rewrapped, latest: boolean): void {
    this.counts[result.as]++;
    if (!('needs' in result)) return;
    this.need(result.needs, latest ? 'objects' : 'olderVersions');
    if (result.because === undefined || result.because === 'records') return;
    this.because[result.because] = (this.because[result.because] ?? 0) + 1;
  }

  need({ keyName, keyVersion }: NeededKey, what: 'objects' | 'olderVersions' | 'uploads'): void {
    const id = JSON.stringify([keyName, keyVersion]);
    const known = this.#uses.get(id);
    if (known === undefined && this.#uses.size >= maxUses) return;
    const use = known ?? { keyName, keyVersion, objects: 0, olderVersions: 0, uploads: 0 };
    this.#uses.set(id, { ...use, [what]: use[what] + 1 });
  }

  /** In order of name and version. */
  get uses(): readonly KeyUse[] {
    const order = (one: KeyUse, other: KeyUse) =>
      one.keyName === other.keyName
        ? one.keyVersion - other.keyVersion
        : one.keyName < other.keyName
          ? -1
          : 1;
    return [...this.#uses.values()].sort(order);
  }
}
