import type { NeededKey, Rewrapped } from './rewrap-object.ts';

/** What a run has seen and done. An object of which versions are kept counts once for each. */
export interface RewrapCounts {
  /** Objects, or versions, that the store has listed; helper objects left out. */
  listed: number;
  /** Looked at, whatever came of it. */
  seen: number;
  /** Under the target before this run. */
  current: number;
  /** Whose headers hold the new keys now. */
  copied: number;
  /** Of which a record beside them holds the new keys now. */
  recorded: number;
  /** What a dry run leaves to be done. */
  pending: number;
  unencrypted: number;
  /** Deleted after they were listed. */
  gone: number;
}

/** A version of a transit key, and how much cannot be read without it. */
export interface KeyUse extends NeededKey {
  readonly objects: number;
  /** Versions that are not the latest of their object. */
  readonly olderVersions: number;
  /** Uploads in parts that are under way. */
  readonly uploads: number;
}

/** Anyone who can write to the bucket chooses these names. */
const mostUses = 1_000;

/** Counts by key name and version, and why keys went into records. */
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
    if (known === undefined && this.#uses.size >= mostUses) return;
    const use = known ?? { keyName, keyVersion, objects: 0, olderVersions: 0, uploads: 0 };
    this.#uses.set(id, { ...use, [what]: use[what] + 1 });
  }

  /** By name and version. */
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
