import type { Target } from '../../../../support/bypass/attempt.ts';
import { tryAccessPath } from '../../../../support/bypass/attempt.ts';
import type { Machine } from './machine.ts';

/** What one attempt by a process of its own came to. */
export const attempt = async (machine: Machine, target: Target, path = 'environ'): Promise<string> =>
  (await tryAccessPath(machine.bypass, path, target)).outcome;

export const isBlocked = (outcome: string): boolean => ['denied', 'killed'].includes(outcome);
