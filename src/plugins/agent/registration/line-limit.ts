/** Lets at most `perSecond` lines pass in any second of the clock, so that no caller fills the log. */
export function lineLimit(perSecond: number, now: () => number = () => performance.now()) {
  let second = -1;
  let passed = 0;
  return (): boolean => {
    const current = Math.floor(now() / 1000);
    if (current !== second) passed = 0;
    second = current;
    passed += 1;
    return passed <= perSecond;
  };
}
