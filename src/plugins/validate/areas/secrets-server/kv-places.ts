import type { CheckFailure } from '../../contract.ts';
import { shared } from '../../shared.ts';
import { type KvPlace, kvPlace } from '../../vault/mounts.ts';

export interface KvPlaces {
  readonly places: readonly KvPlace[];
  /** Paths that are nowhere. */
  readonly failures: readonly CheckFailure[];
}

/** Where the paths of the settings are, as the login sees it. */
export const kvPlaces = shared(async (context): Promise<KvPlaces> => {
  const session = await (await context.vault()).workload();
  const places: KvPlace[] = [];
  const failures: CheckFailure[] = [];
  for (const given of context.config.secretPaths ?? []) {
    const place = await kvPlace(session, given, context.signal);
    if (typeof place === 'string') failures.push({ subject: given, message: place });
    else places.push(place);
  }
  return { places, failures };
});
