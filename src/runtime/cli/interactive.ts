import { constants } from 'node:os';

type Env = Readonly<Record<string, string | undefined>>;

interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line that says what is being done, on a terminal only. */
export interface Progress {
  show(text: string): void;
  /** Before anything else is written there. */
  clear(): void;
}

const eraseLine = '\r\x1b[2K';

export function createProgress(screen: Screen, env: Env): Progress {
  if (screen.isTTY !== true || env['TERM'] === 'dumb') return { show: () => {}, clear: () => {} };
  let shown = false;
  return {
    show(text) {
      screen.write(`${eraseLine}${text}`);
      shown = true;
    },
    clear() {
      if (shown) screen.write(eraseLine);
      shown = false;
    },
  };
}

type Interruption = 'SIGINT' | 'SIGTERM';

/**
 * Does work that the user may interrupt, or that may be ended from outside: its signal is aborted then, and when the work
 * has given up the status is 130 or 143, as shells say it. A second signal ends the process at once.
 * @returns the status that the work resolves with, unless it was interrupted before
 */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  let interruptedBy: Interruption | undefined;
  const interrupt = (by: Interruption) => {
    interruptedBy ??= by;
    stop.abort();
  };
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (interruptedBy !== undefined) return 128 + constants.signals[interruptedBy];
    throw error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
