import { exitStatus, SvcError } from '../errors.ts';
import { mistakeCount } from './mistake-count.ts';
import { findGiven, type Given, type Sources } from './origin.ts';
import { guarded, outcome } from './rules.ts';
import type { Resolved, Setting, Settings } from './setting.ts';
import { wrongValue } from './wrong-value.ts';

/** What the settings need from each other, as `Component.check` has it. */
export type Check<S extends Settings> = (config: Resolved<S>) => readonly string[];

/**
 * The value of each setting: flag before variable before file before default.
 * @throws SvcError CONFIG_INVALID (exit 78) whose details name every mistake at once
 */
export function resolveSettings<S extends Settings>(
  settings: S,
  sources: Sources,
  check?: Check<S>,
): Resolved<S> {
  const values: Record<string, unknown> = {};
  const mistakes = [...(sources.file?.mistakes ?? [])];
  const unusable = new Set<string>();
  for (const [key, setting] of Object.entries(settings)) {
    const reading = read(setting, findGiven(setting, sources));
    values[key] = reading.value;
    if (reading.mistake === undefined) continue;
    unusable.add(key);
    mistakes.push(reading.mistake);
  }
  const config = values as Resolved<S>;
  mistakes.push(...(outcome(() => check?.(guarded(config, unusable))) ?? []));
  if (mistakes.length > 0) throw invalidConfig(mistakes);
  return config;
}

interface Reading {
  readonly value?: unknown;
  readonly mistake?: string;
}

function read(setting: Setting<unknown>, given: Given | undefined): Reading {
  if (given === undefined) return setting.required ? { mistake: missing(setting) } : {};
  try {
    return { value: setting.parse(given.text) };
  } catch (error) {
    return { mistake: wrongValue(setting, given, error) };
  }
}

function missing({ variable, flag, expects }: Setting<unknown>): string {
  return `${variable}${flag === undefined ? '' : ` (--${flag})`}: required, should be ${expects}`;
}

/** CONFIG_INVALID (exit 78) with every mistake a line. */
export function invalidConfig(mistakes: readonly string[]): SvcError {
  return new SvcError('CONFIG_INVALID', `The configuration has ${mistakeCount(mistakes)}`, {
    nextStep: 'Mend what is listed and start again.',
    exitStatus: exitStatus.config,
    details: mistakes,
  });
}
