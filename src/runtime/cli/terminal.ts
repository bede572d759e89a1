import { constants } from 'node:os';
import { styleText } from 'node:util';

type Env = Readonly<Record<string, string | undefined>>;
export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
/** Styles a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** The part of a TTY stream that decides how text is shown. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const FALLBACK_WIDTH = 80;
const SMALLEST_WIDTH = 40;

/** Whether colour may be written: NO_COLOR wins over FORCE_COLOR, both over what the stream is. */
export function hasColour(screen: Screen, env: Env): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return screen.isTTY === true && env['TERM'] !== 'dumb';
}

/** Columns to wrap at; a pipe or a file gets 80. */
export function widthOf(screen: Screen, env: Env): number {
  const told = Number(env['COLUMNS']);
  const columns = Number.isInteger(told) && told > 0 ? told : screen.columns;
  return Math.max(columns ?? FALLBACK_WIDTH, SMALLEST_WIDTH);
}

/** Returns a function that styles text for the screen, or leaves it as it is. */
export function painter(screen: Screen, env: Env): Paint {
  if (!hasColour(screen, env)) return (_style, text) => text;
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** A reader that leaves early (`svc … | head`) is not an error; any other failure of a stream is. */
export function ignoreBrokenPipes(...streams: NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

interface LineScreen extends Pick<Screen, 'isTTY'> {
  write(text: string): unknown;
}

/** One line that says what is being done, on a terminal only. */
export interface Progress {
  show(text: string): void;
  /** To be called before anything else is written there. */
  clear(): void;
}

const eraseLine = '\r\x1b[2K';

export function createProgress(screen: LineScreen, env: Env): Progress {
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
 * Runs work that a signal may interrupt: its AbortSignal is aborted then, and once the work has ended the status is 130
 * or 143, as in shells. A second signal ends the process at once.
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
