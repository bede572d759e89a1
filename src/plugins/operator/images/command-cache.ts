import { formatImageReference, type ImageReference } from '../../../core/image/reference.ts';
import type { ImageCommand } from '../../../core/injection/contract.ts';
import type { Access } from '../../../runtime/registry/access.ts';
import type { FoundBy } from '../../../runtime/registry/look-up.ts';
import { BoundedMap } from '../bounded-map.ts';
import { scopeOf } from './scope.ts';

const most = 2_000;
const longestMs = 24 * 3_600_000;
/** A tag may come to mean another image. */
const freshTagMs = 5 * 60_000;

/** What images run, kept by whom it was found. */
export interface CommandCache {
  /** Not older than a tag may be. */
  fresh(wanted: Wanted): ImageCommand | undefined;
  /** As old as it may be where the registry does not answer. */
  stale(wanted: Wanted): ImageCommand | undefined;
  /** What a digest runs for those who may read it this way. */
  ofDigest(wanted: Wanted, access: Access, digest: string): ImageCommand | undefined;
  keep(wanted: Wanted, found: FoundBy): void;
}

/** An image that a pod may read by any of several ways. */
export interface Wanted {
  readonly reference: ImageReference;
  readonly architecture: string | undefined;
  readonly accesses: readonly Access[];
}

/** @param now in ms, of a clock that only goes forward */
export function createCommandCache(now: () => number): CommandCache {
  const commands = new BoundedMap<ImageCommand>(most, longestMs, now);
  const find = ({ accesses, reference, architecture }: Wanted, maxAgeMs: number) => {
    for (const access of accesses) {
      const found = commands.get(keyOf(access, reference, architecture), maxAgeMs);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    fresh: (wanted) => find(wanted, wanted.reference.digest === undefined ? freshTagMs : longestMs),
    stale: (wanted) => find(wanted, longestMs),
    ofDigest: ({ reference, architecture }, access, digest) =>
      commands.get(keyOf(access, { ...reference, digest }, architecture)),
    keep({ reference, architecture }, { access, digest, command }) {
      commands.set(keyOf(access, { ...reference, digest }, architecture), command);
      if (reference.digest === undefined) commands.set(keyOf(access, reference, architecture), command);
    },
  };
}

/** With a digest the tag says nothing. */
function keyOf(access: Access, reference: ImageReference, architecture: string | undefined): string {
  const tag = reference.digest === undefined ? reference.tag : undefined;
  return JSON.stringify([scopeOf(access), formatImageReference({ ...reference, tag }), architecture ?? '']);
}
