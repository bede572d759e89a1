import type { Stoppable } from '../../support/types.ts';

/** A status of HTTP or gRPC; `ended`: the connection ended without one; `silent`: it did not end within three minutes. */
export type AnswerKind = number | 'ended' | 'silent';

/** One complete input of the worst kind, as somebody outside may send it. */
export interface WorstInput {
  /** Who sends it, and what it is. */
  readonly name: string;
  /** What may come of it, besides `503`. */
  readonly outcomes: readonly AnswerKind[];
  /** How many are sent at once in the second round. Default: 16. */
  readonly atOnce?: number;
  /** Called once before the first is sent. */
  readonly prepare?: () => Promise<void>;
  send(): Promise<AnswerKind>;
}

/** A component as it is shipped, in a cgroup of its shipped limit, with what is sent to it. */
export interface Target extends Stoppable {
  readonly name: string;
  /** Bytes of its cgroup. */
  readonly limit: number;
  readonly pid: number;
  /** URL of `/healthz`. */
  readonly healthz: string;
  readonly inputs: readonly WorstInput[];
  /** How many of its processes were killed for want of memory. */
  killed(): number;
  /** Starts it again after its end. */
  restart(): Promise<void>;
}
