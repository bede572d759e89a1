import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { resolveSettings } from '../../../runtime/settings/resolve.ts';
import { type BulkCall, earlyEnd } from '../engine/run.ts';
import { openSdkStore } from '../engine/sdk-store.ts';
import { endOf } from '../engine/store-failure.ts';
import { findGarbage, type Garbage } from './garbage.ts';
import { gcSettings } from './settings.ts';

export interface GcCall extends Pick<BulkCall<never>, 'sources' | 'signal'> {
  /** Called for each find before it is deleted. */
  readonly onFound: (garbage: Garbage) => void;
}

export interface GcReport {
  readonly deleted: boolean;
  readonly garbage: readonly Garbage[];
  /** The error that ended the run early. */
  readonly endedBy: Error | undefined;
}

/**
 * Finds helper objects that are no longer needed and, with `--delete`, deletes them.
 * @throws SvcError if the run cannot start: CONFIG_INVALID
 */
export async function collectGarbage({ sources, signal, onFound }: GcCall): Promise<GcReport> {
  const settings = resolveSettings(gcSettings, sources);
  const address = storeOf(settings);
  const { host } = address.upstream;
  const store = await openSdkStore('proxy-gc', address, sources.env);
  const garbage: Garbage[] = [];
  const collect = async (found: Garbage) => {
    onFound(found);
    if (settings.delete) await store.delete(found.bucket, found.keys, settings.reservedPrefix);
    garbage.push(found);
  };
  try {
    const endedBy = await earlyEnd(
      () => findGarbage(store, { ...settings, now: Date.now() }, signal, collect),
      signal,
      (error) => endOf(error, 'gc', { host }),
    );
    return { deleted: settings.delete, garbage, endedBy };
  } finally {
    store.close();
  }
}
