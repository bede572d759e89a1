import { constants } from 'node:os';
import { styleText } from 'node:util';

type Env = Readonly<Record<string, string | undefined>>;
export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';
/** Styles a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/** The part of a TTY stream that determines how text is shown. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const FALLBACK_WIDTH = 80;
const SMALLEST_WIDTH = 40;

/** Whether to use colour: NO_COLOR takes precedence over FORCE_COLOR, and both over the stream. */
export function hasColour(screen: Screen, env: Env): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return screen.isTTY === true && env['TERM'] !== 'dumb';
}

/** Columns to wrap at; 80 for a pipe or file. */
export function widthOf(screen: Screen, env: Env): number {
  const told = Number(env['COLUMNS']);
  const columns = Number.isInteger(told) && told > 0 ? told : screen.columns;
  return Math.max(columns ?? FALLBACK_WIDTH, SMALLEST_WIDTH);
}

/** Creates a function that styles text if the screen supports it. */
export function painter(screen: Screen, env: Env): Paint {
  if (!hasColour(screen, env)) return (_style, text) => text;
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** A reader that leaves early (`svc … | head`) is not an error; any other stream failure is. */
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

/** A progress line, shown on a terminal only. */
export interface Progress {
  show(text: string): void;
  /** Call it before writing anything else to the terminal. */
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
 * Runs work that a signal may interrupt by aborting its AbortSignal; the status is then 130 or 143, as in shells. A
 * second signal ends the process at once.
 * @returns the status that the work resolves with, unless it was interrupted
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
