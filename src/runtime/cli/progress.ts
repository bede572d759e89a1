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
