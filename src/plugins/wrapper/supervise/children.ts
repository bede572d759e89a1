import { type Change, waitAny } from '../../../runtime/native/wait.ts';

/** All children of this process, those included that it has inherited as PID 1 or sub-reaper. */
export interface Children {
  /**
   * Reports every change there is, and reaps whoever has ended.
   * @returns false when there is no child (left)
   */
  check(): boolean;
  /** Checks at every SIGCHLD from now on; keeps the process alive until `unwatch`. */
  watch(): void;
  unwatch(): void;
}

/** For a SIGCHLD that was lost. */
const checkEveryMs = 1000;

export function createChildren(onChange: (change: Change) => void): Children {
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    for (;;) {
      const change = waitAny();
      if (change === 'none') return true;
      if (change === 'childless') return false;
      onChange(change);
    }
  };
  return {
    check,
    watch() {
      if (timer) return;
      process.on('SIGCHLD', check);
      timer = setInterval(check, checkEveryMs);
    },
    unwatch() {
      process.off('SIGCHLD', check);
      clearInterval(timer);
      timer = undefined;
    },
  };
}
