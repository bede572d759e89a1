import { constants } from 'node:os';
import { tryInt } from './libc.ts';
import { NativeError } from './native-error.ts';
import { withScratch } from './scratch.ts';

/** What became of a child; `signal` such as `SIGTERM`. */
export type Change =
  | { readonly pid: number; readonly kind: 'exited'; readonly code: number }
  | { readonly pid: number; readonly kind: 'killed' | 'stopped'; readonly signal: string }
  | { readonly pid: number; readonly kind: 'continued' };

const wnohang = 1;
const wuntraced = 2;
const wcontinued = 8;
const anyChild = -1;

/**
 * The next change of any child, which it reaps if it has ended; never waits.
 * @returns `none` when no child has changed, `childless` when there is no child
 */
export function waitAny(): Change | 'none' | 'childless' {
  return withScratch(4, ({ address, bytes }) => {
    try {
      const pid = tryInt('waitpid', anyChild, address, wnohang | wuntraced | wcontinued);
      return pid === 0 ? 'none' : decodeStatus(pid, bytes.readInt32LE());
    } catch (error) {
      if (error instanceof NativeError && error.errnoName === 'ECHILD') return 'childless';
      throw error;
    }
  });
}

/** The wait status as the kernel lays it out. */
export function decodeStatus(pid: number, status: number): Change {
  const low = status & 0x7f;
  const high = (status >> 8) & 0xff;
  if (status === 0xffff) return { pid, kind: 'continued' };
  if ((status & 0xff) === 0x7f) return { pid, kind: 'stopped', signal: signalName(high) };
  if (low === 0) return { pid, kind: 'exited', code: high };
  return { pid, kind: 'killed', signal: signalName(low) };
}

/** The number of a signal; those without a name, such as real-time ones, are called `SIG` and the number. */
export function signalNumber(name: string): number {
  return constants.signals[name as NodeJS.Signals] ?? Number(name.slice(3));
}

const preferred = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number as number, name]),
);

function signalName(number: number): string {
  return preferred.get(number) ?? `SIG${number}`;
}
