import { WrapperRefusal } from './wrapper-refusal.ts';

/** What of the wrapper's protection this machine admits. */
export interface Protection {
  readonly delivery: 'fd' | 'env';
  readonly requireMlock: boolean;
  /** What had to be left out, and why, a sentence each. */
  readonly concessions: readonly string[];
}

export const full: Protection = { delivery: 'fd', requireMlock: true, concessions: [] };

/** In place what changes there; the environment of a running program cannot be changed. */
export const rotationOf = ({ delivery }: Protection): 'sighup' | 'restart' =>
  delivery === 'fd' ? 'sighup' : 'restart';

/** Tries with everything, then without what was refused. @throws what `start` throws when nothing is left to leave out */
export async function withBestProtection<T>(start: (protection: Protection) => Promise<T>): Promise<T> {
  let protection: Protection | undefined = full;
  for (;;) {
    try {
      return await start(protection);
    } catch (error) {
      protection = error instanceof WrapperRefusal ? weaker(protection, error) : undefined;
      if (protection === undefined) throw error;
    }
  }
}

function weaker(protection: Protection, { code, reason }: WrapperRefusal): Protection | undefined {
  const without = (change: Partial<Protection>, consequence: string): Protection => ({
    ...protection,
    ...change,
    concessions: [...protection.concessions, `${reason}. ${consequence}`],
  });
  if (code === 'MEMORY_LOCK_REFUSED' && protection.requireMlock)
    return without({ requireMlock: false }, 'So the wrapper runs with SVC_REQUIRE_MLOCK=false.');
  if (protection.delivery === 'fd' && noDescriptor.has(code))
    return without({ delivery: 'env' }, 'So it delivers by the environment: SVC_DELIVERY=env.');
  return undefined;
}

/** The last: the application could not map what it was given. */
const noDescriptor: ReadonlySet<string | undefined> = new Set([
  'MEMFD_SECRET_UNAVAILABLE',
  'MEMORY_LOCK_REFUSED',
  undefined,
]);
