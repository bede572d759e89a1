import { ImageError } from './image-error.ts';
import type { IndexEntry } from './index-entry.ts';

/** What Kubernetes is released for; others in an index run on no node. */
const ofNodes = ['amd64', 'arm64', 'ppc64le', 's390x'];
/** Variants included; more would be as many requests. */
const most = 8;

/**
 * The images of an index that the pod could get, of which the first is the likeliest; at least one.
 * @param architecture that the pod's node must have; undefined: any
 * @throws ImageError when there is none, or too many to look at
 */
export function choosePlatforms(
  entries: readonly IndexEntry[],
  architecture: string | undefined,
): readonly IndexEntry[] {
  const linux = entries.filter(({ platform }) => platform?.os === 'linux');
  const chosen = architecture === undefined ? likely(linux) : linux.filter((each) => is(each, architecture));
  const found = chosen.length > 0 ? chosen : entries.filter(({ platform }) => platform === undefined);
  const different = found.filter(
    ({ digest }, at) => found.findIndex((each) => each.digest === digest) === at,
  );
  if (different.length === 0) throw new ImageError(nothingFor(architecture, linux));
  if (different.length > most)
    throw new ImageError(
      `its index has ${different.length} images that could run, and no more than ${most} are looked at`,
    );
  return different;
}

function likely(linux: readonly IndexEntry[]): readonly IndexEntry[] {
  const runnable = ofNodes.flatMap((architecture) => linux.filter((each) => is(each, architecture)));
  return runnable.length > 0 ? runnable : linux;
}

function is({ platform }: IndexEntry, architecture: string): boolean {
  return platform?.architecture === architecture;
}

function nothingFor(architecture: string | undefined, linux: readonly IndexEntry[]): string {
  const there = [...new Set(linux.map(({ platform }) => platform?.architecture ?? ''))]
    .filter((name) => /^\w{1,20}$/.test(name))
    .slice(0, 12);
  const offer = there.length === 0 ? 'none for Linux' : `those for ${there.join(', ')}`;
  return `its index has no image for linux/${architecture ?? 'any'}, but ${offer}`;
}
