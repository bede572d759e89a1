import type { ObjectStore } from '../support/types.ts';

/** Shows what a part finds, and counts. */
export interface Report {
  /** A line, or several, for people. */
  say(text: string): void;
  /** Something that must hold; `detail` is shown with it, whether it holds or not. */
  check(what: string, holds: boolean, detail?: string): void;
}

export interface PartOptions {
  /** How long the soak lasts, the mixture of the worst inputs or the fuzzing. */
  readonly minutes: number;
  /** Where its pseudo-random choices begin. */
  readonly seed: number;
  /** How many are in the bucket; undefined: as many as the part is made for. */
  readonly objects: number | undefined;
  /** How many requests of callers are judged beside a hostile store. */
  readonly requests: number;
  /** The number of the first of their cases. */
  readonly from: number;
  /** The only store that the suites of others are run against. */
  readonly store: ObjectStore['kind'] | undefined;
  /** Which one of these cases alone, by its number. */
  readonly case: number | undefined;
  /** Which applications, checks of the node, worst inputs or parsers, by their names; default: all. */
  readonly only?: readonly string[] | undefined;
  /** Records what the applications need, in place of comparing it with what is recorded. */
  readonly write: boolean;
  /** Keeps the node up for checks that are named on standard input. */
  readonly keep: boolean;
}

/** One long run with real servers. What it throws is one failure. */
export interface Part {
  readonly name: string;
  readonly summary: string;
  readonly run: (report: Report, options: PartOptions) => Promise<void>;
}
