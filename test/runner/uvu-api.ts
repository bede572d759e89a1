/**
 * uvu's `suite` and `test`, with hooks and handlers that tell what becomes of them. The package itself collects and runs
 * them; alone, it takes for success a throwing hook, a suite without tests, and one without `.run()`.
 */

import { type Callback, suite as uvuSuite } from 'uvu';
import type { Emit } from './events.ts';
import { type Content, type Handler, type State, SuiteReport } from './suite-report.ts';
import { runs } from './uvu-deferred.ts';

/** A suite whose `.run()` was called. */
export interface QueuedSuite {
  readonly report: SuiteReport;
  readonly content: Content;
  /** uvu's own run of it. */
  readonly run: () => Promise<unknown>;
}

interface Open {
  readonly label: string;
  /** What nobody has called `.run()` for. */
  content: Content;
}

/** In the order of their `.run()`. */
export const queue: QueuedSuite[] = [];
const open: Open[] = [];
let emit: Emit = () => undefined;

/** Where suites tell what becomes of them. */
export function observe(observer: Emit): void {
  emit = observer;
}

/** Runs all that is queued, one after the other. */
export async function runQueue(): Promise<void> {
  for (const { report, content, run } of queue) {
    report.begin(content);
    await run();
  }
}

/** The labels of suites that hold tests or hooks although nobody called their `.run()`. */
export function neverRun(): string[] {
  return open
    .filter(({ content }) => Object.values(content).some((count) => count > 0))
    .map(({ label }) => label);
}

const nothing = (): Content => ({ tests: 0, only: 0, skips: 0, hooks: 0 });

export function suite(name = '', state: State = {}) {
  const uvu = uvuSuite<State>(name, state);
  const held: Open = { label: name || '(unnamed suite)', content: nothing() };
  open.push(held);
  const report = new SuiteReport(held.label, (event) => emit(event));
  const begin = () => uvu.before.each((state) => report.beginTest(state));
  const hook = (register: (hook: Callback<State>) => void, observed: (handler: Handler) => Handler) => {
    return (handler: Handler) => {
      held.content.hooks += 1;
      register(observed(handler) as Callback<State>);
    };
  };
  const add = (title: string, handler: Handler) => {
    held.content.tests += 1;
    uvu(title, report.inTest(handler) as Callback<State>);
  };
  begin();
  return Object.assign(add, {
    only(title: string, handler: Handler) {
      held.content.only += 1;
      uvu.only(title, report.inTest(handler) as Callback<State>);
    },
    skip() {
      held.content.skips += 1;
      uvu.skip();
    },
    before: Object.assign(
      hook(uvu.before, (handler) => report.beforeAll(handler)),
      { each: hook(uvu.before.each, (handler) => report.inTest(handler)) },
    ),
    after: Object.assign(
      hook(uvu.after, (handler) => report.afterAll(handler)),
      { each: hook(uvu.after.each, (handler) => report.afterTest(handler)) },
    ),
    run() {
      uvu.after.each(() => report.concludeTest());
      uvu.run();
      queue.push({ report, content: held.content, run: runs.at(-1) as QueuedSuite['run'] });
      held.content = nothing();
      begin();
    },
  });
}

export const test = suite();
