import { describeError, unavailableTool } from './describe-error.ts';
import type { Emit } from './events.ts';

export type State = Record<string, unknown>;
export type Handler = (state: State) => unknown;

/** How much of each a suite holds. */
export interface Content {
  tests: number;
  only: number;
  skips: number;
  hooks: number;
}

/** uvu asks of an error what not every thrown value has; it need only know that there was one. */
const REPORTED = new Error('reported by the runner');

/** Reports what becomes of a suite while uvu runs it, from within its hooks and handlers. */
export class SuiteReport {
  readonly #label: string;
  readonly #emit: Emit;
  #content: Content = { tests: 0, only: 0, skips: 0, hooks: 0 };
  #test = '';
  #errors: unknown[] = [];

  constructor(label: string, emit: Emit) {
    this.#label = label;
    this.#emit = emit;
  }

  /** To be called before uvu runs the suite. */
  begin(content: Content): void {
    this.#content = content;
    const { tests, only, skips } = content;
    const skip = (reason: string, count: number) =>
      this.#emit({ type: 'skip', name: this.#label, reason, count });
    if (skips > 0) skip('marked .skip', skips);
    if (only > 0) skip('other tests are marked .only', tests || 1);
    if (tests + only + skips === 0) this.#fail(this.#label, 'The suite has no tests.');
  }

  /** The first of the hooks before each test. */
  beginTest(state: State): void {
    this.#test = `${this.#label} › ${state['__test__']}`;
    this.#errors = [];
    this.#emit({ type: 'start', name: this.#test });
  }

  /** A test, or a hook before each: uvu goes on to the hooks after each when it throws. */
  inTest(handler: Handler): Handler {
    return noting(handler, (error) => {
      this.#errors.push(error);
      throw REPORTED;
    });
  }

  /** uvu would leave out the hooks after one that throws, and all tests that follow. */
  afterTest(handler: Handler): Handler {
    return noting(handler, (error) => void this.#errors.push(error));
  }

  /** The last of the hooks after each test. */
  concludeTest(): void {
    const [first, ...others] = this.#errors;
    if (this.#errors.length === 0) return this.#emit({ type: 'pass', name: this.#test });
    const missing = others.length === 0 ? unavailableTool(first) : undefined;
    if (missing) this.#emit({ type: 'skip', name: this.#test, reason: missing, count: 1 });
    else this.#fail(this.#test, this.#errors.map(describeError).join('\n'));
  }

  /** A hook before all tests: uvu leaves them out when it throws. */
  beforeAll(handler: Handler): Handler {
    return noting(handler, (error) => {
      this.#reportHook('before hook', error, this.#content.only || this.#content.tests);
      throw REPORTED;
    });
  }

  afterAll(handler: Handler): Handler {
    return noting(handler, (error) => this.#reportHook('after hook', error, 1));
  }

  #reportHook(hook: string, error: unknown, count: number): void {
    const name = `${this.#label} › ${hook}`;
    const missing = unavailableTool(error);
    if (missing) this.#emit({ type: 'skip', name, reason: missing, count });
    else this.#fail(name, describeError(error));
  }

  #fail(name: string, error: string): void {
    this.#emit({ type: 'fail', name, error });
  }
}

function noting(handler: Handler, onError: (error: unknown) => void): Handler {
  return async (state) => {
    try {
      await handler(state);
    } catch (error) {
      onError(error);
    }
  };
}
