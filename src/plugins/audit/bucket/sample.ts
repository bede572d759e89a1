import { type LookOptions, lookAt, withoutHelpers } from './audit-all.ts';
import type { ListedObject } from './store.ts';
import type { Tally } from './tally.ts';

/** A share of the objects, from 0 to 1, that lies between the other two in 95 of 100 cases. */
export interface Estimate {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

export interface Sample {
  /** Objects that were listed, helper objects left out. */
  readonly listed: number;
  /** Of them, those that were looked at. */
  readonly looked: number;
  /** Of ciphertext; absent where nothing was there to look at. */
  readonly encrypted?: Estimate;
}

/**
 * Lists everything, which takes a call for a thousand objects, and looks at `size` of them: each has the same chance.
 * @param random from 0 to below 1
 */
export async function auditSample(
  tally: Tally,
  size: number,
  options: LookOptions,
  onPage: (listed: number) => void,
  random: () => number = Math.random,
): Promise<Sample> {
  const chosen: ListedObject[] = [];
  let listed = 0;
  for await (const page of options.store.pages(undefined, options.signal)) {
    for (const object of withoutHelpers(page, tally, options)) {
      const place = listed < size ? listed : Math.floor(random() * (listed + 1));
      listed++;
      if (place < size) chosen[place] = object;
    }
    onPage(listed);
    options.signal.throwIfAborted();
  }
  await lookAt(chosen, tally, options);
  const looked = tally.objects - tally.vanished;
  return { listed, looked, ...(looked > 0 && { encrypted: estimate(tally.encrypted, looked, listed) }) };
}

const z = 1.96;

/** Wilson's interval; where everything was looked at there is nothing to estimate. */
export function estimate(encrypted: number, looked: number, listed: number): Estimate {
  const share = encrypted / looked;
  if (looked >= listed) return { share, low: share, high: share };
  const weight = 1 + z ** 2 / looked;
  const middle = (share + z ** 2 / (2 * looked)) / weight;
  const reach = (z / weight) * Math.sqrt((share * (1 - share)) / looked + z ** 2 / (4 * looked ** 2));
  return { share, low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}
