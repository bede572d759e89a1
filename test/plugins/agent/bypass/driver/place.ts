import type { LineProcess } from '../../../../support/bypass/line-process.ts';
import type { Refused } from './registrar-lines.ts';

/** Where victims are started, and what covers them there. */
export interface Place {
  /** Starts a program there; what is in `env` comes first in its environment. */
  start(program: string, args: readonly string[], env?: Record<string, string>): Promise<LineProcess>;
  /** From now on everything in it is covered; undefined, or why the agent did not cover it. */
  protect(): Promise<Refused | undefined>;
  end(): Promise<void>;
}
