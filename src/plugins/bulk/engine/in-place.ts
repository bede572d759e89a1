import type { OpenObjects } from '../../../objects/open-objects.ts';
import type { Faults } from './faults.ts';
import { again, listObjects, type StoredEntry } from './list-objects.ts';
import { type BulkCall, type RunPlace, workOnObjects } from './run.ts';

/** How rewrap and migrate are started, which change objects where they are. */
export interface InPlaceCall<Counts> extends BulkCall<Counts> {
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly at: string;
  readonly dryRun: boolean;
}

interface InPlaceCounts {
  listed: number;
  seen: number;
}

/** A run that has begun. */
export interface InPlaceRun<Counts, Settings> {
  readonly call: InPlaceCall<Counts>;
  readonly place: RunPlace;
  readonly settings: Settings;
  readonly objects: OpenObjects;
  readonly faults: Faults;
}

/**
 * @param versioned whether all versions of each object are worked on
 * @param work called up to four times for an object, if that may help; `attempt` counts from 1
 */
export async function workInPlace<Counts extends InPlaceCounts>(
  run: InPlaceRun<Counts, { readonly reservedPrefix: string; readonly concurrency: number }>,
  versioned: boolean,
  counts: Counts,
  work: (entry: StoredEntry, signal: AbortSignal, attempt: number) => Promise<void>,
): Promise<void> {
  const { call, place, settings, objects, faults } = run;
  const { signal, onProgress } = call;
  const { reservedPrefix, concurrency } = settings;
  const pages = listObjects(objects.upstream, { ...place, versioned, reservedPrefix }, signal);
  const onSeen = () => {
    counts.seen++;
    onProgress(counts);
  };
  await workOnObjects(
    { pages, concurrency, signal, faults, counts, onSeen },
    () => (entry, each) => again((attempt) => work(entry, each, attempt), each),
  );
}
