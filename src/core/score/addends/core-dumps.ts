import type { Container } from '../../kubernetes/pod.ts';
import type { PodProtection } from '../contract.ts';
import { settingOf } from '../environment.ts';
import type { Judgement, Rule } from '../judgement.ts';
import { worstWrapper } from '../wrappers.ts';

const of = 5;

/** A crash leaves no copy of the memory. Only a limit of 1 stops dumps into a pipe too: 0 does not. */
export const coreDumps: Rule = {
  name: 'core-dumps',
  of,
  judge: (subject) => worstWrapper(subject, { measured: byReport, configured: byVariable }),
};

const remedy = 'Leave SVC_CORE_LIMIT at 1, and do not have the application raise the limit.';

const off: Judgement = { points: of, because: 'Core dumps are off for files and pipes.' };
const piped: Judgement = { points: 2, because: 'Core dumps into a pipe are still possible.', remedy };
const possible: Judgement = { points: 0, because: 'Core dumps are possible.', remedy };

function byReport({ wrapper, application }: PodProtection['reports'][number]): Judgement | undefined {
  if (wrapper === undefined || application === undefined) return undefined;
  return byLimits([wrapper.coreLimit, application.coreLimit]);
}

function byVariable(container: Container): Judgement {
  const setting = settingOf(container, 'SVC_CORE_LIMIT');
  if (!setting.known) return { points: 0, because: 'The limit of core dumps is not known.', remedy };
  const { value = '1' } = setting;
  return byLimits([/^\d+$/.test(value) ? Number(value) : undefined]);
}

/** In bytes; undefined is no limit. */
function byLimits(limits: readonly (number | undefined)[]): Judgement {
  if (limits.every((limit) => limit === 1)) return off;
  return limits.every((limit) => limit !== undefined && limit <= 1) ? piped : possible;
}
