import type { PartEntry } from '../../../core/envelope/manifest.ts';
import type { PartSlice } from '../../../core/s3/range.ts';
import type { ByteRange } from './object-reader.ts';

/** Bodies up to this many bytes are fetched anew for each range; larger ones go through the spool. */
export const spoolFrom = 1024 * 1024;

export interface WantedPart {
  readonly entry: PartEntry;
  readonly slice: PartSlice;
}

/** Parts that lie side by side in the stored object and are fetched by one request. */
export interface PartRun {
  readonly stored: ByteRange;
  readonly parts: readonly WantedPart[];
  /** The run is one part of which only a slice is wanted, and others may want the rest. */
  readonly shared: boolean;
}

/** How the parts that cover a range are fetched. */
export function partRuns(entries: readonly PartEntry[], slices: readonly PartSlice[]): PartRun[] {
  const runs: { parts: WantedPart[]; shared: boolean }[] = [];
  for (const slice of slices) {
    const entry = entries[slice.index] as PartEntry;
    const shared = slice.take < entry.size && entry.size > spoolFrom;
    const last = runs.at(-1);
    if (last === undefined || last.shared || shared) runs.push({ parts: [{ entry, slice }], shared });
    else last.parts.push({ entry, slice });
  }
  return runs.map((run) => ({ ...run, stored: extent(run.parts) }));
}

/** All of them by one request. */
export function oneRun(entries: readonly PartEntry[], slices: readonly PartSlice[]): PartRun {
  const parts = slices.map((slice) => ({ entry: entries[slice.index] as PartEntry, slice }));
  return { parts, shared: false, stored: extent(parts) };
}

function extent(parts: readonly WantedPart[]): ByteRange {
  const first = parts[0] as WantedPart;
  const last = parts.at(-1) as WantedPart;
  return { start: first.slice.cipherStart, end: last.slice.cipherEnd };
}
