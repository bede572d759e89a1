/** Takes an action in the place of the one before; without one, does that again. */
export type Repeat = (action?: () => void) => void;

/** What it takes is done at once and then every so many milliseconds; no process stays for it. */
export function createRepeater(everyMs: number): Repeat {
  let timer: NodeJS.Timeout | undefined;
  let current = () => {};
  return (action = current) => {
    current = action;
    clearInterval(timer);
    timer = setInterval(action, everyMs).unref();
    action();
  };
}
