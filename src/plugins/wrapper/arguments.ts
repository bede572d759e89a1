import { exitStatus, SvcError } from '../../core/errors.ts';
import { mistakeCount } from '../../core/settings/mistake-count.ts';
import type { Setting } from '../../core/settings/setting.ts';
import { hint } from '../../core/settings/suggest.ts';
import { wrapperSettings } from './settings.ts';

export interface Arguments {
  /** What is asked for instead of a run. */
  readonly shows?: 'help' | 'version';
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags: Readonly<Record<string, string | boolean>>;
  /** What stands after `--`, literally; undefined without `--`. */
  readonly command: readonly string[] | undefined;
}

const settingOf = new Map<string, Setting<unknown>>(
  Object.values(wrapperSettings).flatMap((setting) => ('flag' in setting ? [[setting.flag, setting]] : [])),
);
const known = [...settingOf.keys(), 'help', 'version'].map((name) => `--${name}`);

/**
 * `svc-wrapper [--flag=value | --flag value]… [-- command args…]`. Messages repeat names of flags and
 * never a value: that may be a secret in the wrong place.
 * @throws SvcError USAGE (exit 64) with every mistake at once
 */
export function parseArguments(argv: readonly string[]): Arguments {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.includes('--help')) return { shows: 'help', flags: {}, command: undefined };
  if (own.includes('--version')) return { shows: 'version', flags: {}, command: undefined };
  const command = end === -1 ? undefined : argv.slice(end + 1);
  const { flags, mistakes } = readFlags(own);
  if (command?.length === 0) mistakes.push('--: should be followed by a command');
  if (mistakes.length > 0) throw usage(mistakes);
  return { flags: Object.fromEntries(flags), command };
}

function readFlags(own: readonly string[]) {
  const flags = new Map<string, string | boolean>();
  const mistakes: string[] = [];
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    const [, name = '', , attached] = /^--([^=]+)(=(.*))?$/s.exec(word) ?? [];
    const next = own[at + 1];
    const takesNext = attached === undefined && next !== undefined && !next.startsWith('--');
    const mistake = mistakeIn(name, at, flags.has(name), attached === undefined && !takesNext);
    if (mistake !== undefined) mistakes.push(mistake);
    const isSwitch = settingOf.get(name)?.switch === true;
    flags.set(name, attached ?? (isSwitch || !takesNext ? true : next));
    if (name !== '' && takesNext && !isSwitch) at++;
  }
  return { flags, mistakes };
}

function mistakeIn(name: string, at: number, repeated: boolean, bare: boolean): string | undefined {
  if (name === '') return `argument ${at + 1}: is no flag; the command comes after --`;
  const setting = settingOf.get(name);
  if (setting === undefined) return `--${name}: unknown flag${hint(`--${name}`, known)}`;
  if (repeated) return `--${name}: should be given once`;
  return bare && !setting.switch ? `--${name}: needs a value, ${setting.expects}` : undefined;
}

function usage(mistakes: readonly string[]): SvcError {
  return new SvcError('USAGE', `The command line has ${mistakeCount(mistakes)}`, {
    nextStep: 'Run `svc-wrapper --help` to see what it takes.',
    exitStatus: exitStatus.usage,
    details: mistakes,
  });
}
