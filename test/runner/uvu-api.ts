/**
 * uvu's `suite` and `test`, which collect instead of run: test/runner/execute.ts runs what they collected.
 * uvu's own driver takes a throwing hook or a suite without `.run()` for success.
 */
export type State = Record<string, unknown>;
export type Handler = (state: State) => unknown;

export interface Case {
  name: string;
  handler: Handler;
}

export interface Suite {
  name: string;
  state: State;
  tests: Case[];
  only: Case[];
  skips: string[];
  before: Handler[];
  after: Handler[];
  beforeEach: Handler[];
  afterEach: Handler[];
}

/** Suites whose `.run()` was called, in that order. */
export const queue: Suite[] = [];
const open: Suite[] = [];

function emptySuite(name: string, state: State): Suite {
  const lists = { tests: [], only: [], skips: [], before: [], after: [], beforeEach: [], afterEach: [] };
  return { name, state, ...lists };
}

function hooks(first: Handler[], each: Handler[]) {
  return Object.assign((handler: Handler) => void first.push(handler), {
    each: (handler: Handler) => void each.push(handler),
  });
}

export function suite(name = '', state: State = {}) {
  const collected = emptySuite(name, state);
  open.push(collected);
  return Object.assign(
    (title: string, handler: Handler) => void collected.tests.push({ name: title, handler }),
    {
      only: (title: string, handler: Handler) => void collected.only.push({ name: title, handler }),
      skip: (title = '') => void collected.skips.push(title),
      before: hooks(collected.before, collected.beforeEach),
      after: hooks(collected.after, collected.afterEach),
      run: () => enqueue(collected),
    },
  );
}

export const test = suite();

function enqueue(collected: Suite): void {
  queue.push({ ...collected });
  Object.assign(collected, emptySuite(collected.name, collected.state));
}

/** Suites that hold tests or hooks although nobody called their `.run()`. */
export function neverRun(): Suite[] {
  return open.filter(({ tests, only, skips, before, after, beforeEach, afterEach }) =>
    [tests, only, skips, before, after, beforeEach, afterEach].some((list) => list.length > 0),
  );
}
