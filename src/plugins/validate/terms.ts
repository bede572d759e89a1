import { checkStatus, type FailOn } from '../../core/checks/contract.ts';
import { parseDuration } from '../../core/duration.ts';
import { messageOf, SvcError } from '../../core/errors.ts';
import type { ValidateFlags } from './call.ts';
import { checks } from './registry.ts';
import type { Selection } from './selection/select.ts';
import type { Format } from './settings.ts';

/** What is checked, and what is done with what was found. */
export interface Terms extends Selection {
  readonly format: Format;
  readonly failOn: FailOn;
  /** Milliseconds; undefined: one attempt. */
  readonly wait: number | undefined;
  /** `SVC-…-001` or `SVC-…-001=namespace/name`. */
  readonly ignore: readonly string[];
}

const longestWaitMs = 24 * 3_600_000;

/** @throws SvcError VALIDATE_USAGE naming every mistake */
export function readTerms(flags: ValidateFlags): Terms {
  const mistakes = unknownChecks(flags);
  const terms: Terms = {
    format: flags.json ? 'json' : flags.output,
    failOn: flags['fail-on'],
    wait: flags.wait === undefined ? undefined : waitOf(flags.wait, mistakes),
    ignore: flags.ignore ?? [],
    pre: flags.pre,
    node: flags.node,
    areas: flags.area ?? [],
    ids: flags.check ?? [],
  };
  if (mistakes.length === 0) return terms;
  throw new SvcError('VALIDATE_USAGE', 'svc validate was called wrongly', {
    nextStep: 'Run `svc validate --help` to see what it takes.',
    exitStatus: checkStatus.usage,
    details: mistakes,
  });
}

function unknownChecks({ check = [] }: ValidateFlags): string[] {
  return check
    .filter((wanted) => !checks.some(({ id }) => id === wanted))
    .map((wanted) => `--check: there is no check ${JSON.stringify(wanted)}`);
}

function waitOf(text: string, mistakes: string[]): number | undefined {
  try {
    const milliseconds = parseDuration(text);
    if (milliseconds > 0 && milliseconds <= longestWaitMs) return milliseconds;
    mistakes.push('--wait: should be from 1ms to 24h');
  } catch (error) {
    mistakes.push(`--wait: should be a duration such as 5m (${messageOf(error)})`);
  }
  return undefined;
}
