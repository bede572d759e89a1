import type { ProcessFacts } from '../../../../../src/plugins/agent/guard/contract.ts';
import { type FakeGuard, fakeGuard } from './fake-guard.ts';

export interface SlowGuard extends FakeGuard {
  /** Walks that were begun. */
  readonly walks: { readonly pid: number; readonly signal: AbortSignal; finish(): void }[];
}

/** A guard that is done with a process and its descendants when it is told so. */
export function slowGuard(): SlowGuard {
  const guard = fakeGuard();
  const walks: SlowGuard['walks'] = [];
  guard.protectInTurns = (pid, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<ProcessFacts>();
    walks.push({ pid, signal, finish: () => resolve(guard.protect(pid)) });
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  };
  return Object.assign(guard, { walks });
}
