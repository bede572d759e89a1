import type { Leadership } from './leadership.ts';

/** For a component that is the only one of its kind: it leads from the start until its signal is aborted. */
export function soleLeader(signal: AbortSignal): Leadership {
  return {
    get leading() {
      return !signal.aborted;
    },
    onChange(handle) {
      if (signal.aborted) return () => {};
      const ended = () => handle(false);
      signal.addEventListener('abort', ended, { once: true });
      handle(true);
      return () => signal.removeEventListener('abort', ended);
    },
  };
}
