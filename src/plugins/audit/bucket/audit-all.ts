import { concurrently } from '../../../runtime/lifecycle/concurrently.ts';
import type { AuditStore, ListedObject } from './store.ts';
import { count, countRefused, type Tally } from './tally.ts';

export interface LookOptions {
  readonly store: AuditStore;
  /** Keys that begin with it are the proxy's own. */
  readonly reservedPrefix: string;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Most keys to keep of each kind of finding. */
  readonly list: number;
  readonly signal: AbortSignal;
}

/**
 * Looks at every object behind a key, page by page, and counts it into the tally.
 * @param onPage called when all of a page is counted, with its last key
 */
export async function auditAll(
  tally: Tally,
  after: string | undefined,
  options: LookOptions,
  onPage: (lastKey: string) => void,
): Promise<void> {
  for await (const page of options.store.pages(after, options.signal)) {
    const objects = withoutHelpers(page, tally, options);
    await lookAt(objects, tally, options);
    const last = page.at(-1);
    if (last !== undefined) onPage(last.key);
    options.signal.throwIfAborted();
  }
}

export function withoutHelpers(
  page: readonly ListedObject[],
  tally: Tally,
  { reservedPrefix }: Pick<LookOptions, 'reservedPrefix'>,
): readonly ListedObject[] {
  const objects = page.filter(({ key }) => !key.startsWith(reservedPrefix));
  tally.helpers += page.length - objects.length;
  return objects;
}

/** All heads first, in their order, so that a page counts whole or not at all. */
export async function lookAt(
  objects: readonly ListedObject[],
  tally: Tally,
  { store, concurrency, list, signal }: LookOptions,
): Promise<void> {
  const heads = await concurrently(objects, concurrency, ({ key }) => store.head(key, signal));
  objects.forEach((object, index) => {
    const head = heads[index];
    if (head === undefined || head.found === 'refused') countRefused(tally, object, list);
    else count(tally, { ...object, headers: head.found ? head.headers : undefined }, list);
  });
}
