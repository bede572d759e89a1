import { exitStatus, SvcError } from '../../core/errors.ts';
import { mistakeCount } from '../../core/settings/mistake-count.ts';
import type { Setting } from '../../core/settings/setting.ts';
import { hint } from '../../core/settings/suggest.ts';
import { wrapperSettings } from './settings.ts';

export interface Arguments {
  /** What is asked for instead of a run. */
  readonly shows?: 'help' | 'version';
  /** The folder that the wrapper copies its own into, instead of a run. */
  readonly copyTo?: string;
  /** The folder below which the wrapper keeps its own in versions, instead of a run. */
  readonly installTo?: string;
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags: Readonly<Record<string, string | boolean>>;
  /** What stands after `--`, literally; undefined without `--`. */
  readonly command: readonly string[] | undefined;
}

const settingOf = new Map<string, Setting<unknown>>(
  Object.values(wrapperSettings).flatMap((setting) => ('flag' in setting ? [[setting.flag, setting]] : [])),
);
const folderFlags = {
  /** Copies the self-contained folder of the wrapper into this one, and starts nothing. */
  '--copy-to': 'copyTo',
  /** Keeps that folder below this one, by its version, with a link `current` to it; starts nothing. */
  '--install-to': 'installTo',
} as const;
const known = [
  ...[...settingOf.keys(), 'help', 'version'].map((name) => `--${name}`),
  ...Object.keys(folderFlags),
];
type FolderFlag = keyof typeof folderFlags;
const isFolderFlag = (text: string): text is FolderFlag => Object.hasOwn(folderFlags, text);

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
  const [first = ''] = own[0]?.split('=', 1) ?? [];
  if (isFolderFlag(first)) return folderArguments(first, argv);
  const command = end === -1 ? undefined : argv.slice(end + 1);
  const { flags, mistakes } = readFlags(own);
  if (command?.length === 0) mistakes.push('--: should be followed by a command');
  if (mistakes.length > 0) throw usage(mistakes);
  return { flags: Object.fromEntries(flags), command };
}

/** It stands alone: nothing else of the command line would have a meaning. */
function folderArguments(flag: FolderFlag, [first = '', ...rest]: readonly string[]): Arguments {
  const [folder = '', ...more] = first === flag ? rest : [first.slice(flag.length + 1), ...rest];
  if (folder === '' || more.length > 0) throw usage([`${flag}: should be given alone, with a folder`]);
  return { [folderFlags[flag]]: folder, flags: {}, command: undefined };
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
  if (isFolderFlag(`--${name}`)) return `--${name}: should be given alone, with a folder`;
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
