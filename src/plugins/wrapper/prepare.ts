import { svcVersion } from '../../runtime/component/package-folder.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { descriptorSink } from '../../runtime/logging/create-logger.ts';
import { type Logger, reportFailure } from '../../runtime/logging/logger.ts';
import { errorCount, hint } from '../../runtime/settings/resolve.ts';
import { type Setting, settingSummary } from '../../runtime/settings/setting.ts';
import { copyFolder, installFolder, isSelfContained, ownFolder } from './install-folder.ts';
import { configuredLogger, earlyLogger } from './observation.ts';
import { nodeOptions } from './prepare-application.ts';
import { readConfig, type WrapperConfig } from './read-config.ts';
import { wrapperSettings } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What to run, or the exit status if there is nothing to run. */
export type PreparedConfig =
  | { readonly config: WrapperConfig; readonly log: Logger }
  | { readonly status: number };

const standardOutput = 1;

/**
 * Reads the command line and the configuration. If it returns a status, it has logged errors, shown help or version, or
 * copied the wrapper's folder.
 * @param env VAULT_TOKEN must not hold the token itself: only its presence counts
 * @param remarks whether to log remarks on the configuration
 */
export function prepare(argv: readonly string[], env: Env, remarks = true): PreparedConfig {
  try {
    const { shows, copyTo, installTo, ...given } = parseArguments(argv);
    if (shows !== undefined) return show(shows === 'help' ? helpText() : `svc-wrapper ${svcVersion()}`);
    if (copyTo !== undefined) return copyOwnFolder(copyTo, env);
    if (installTo !== undefined) return installOwnFolder(installTo, env);
    const config = readConfig({ ...given, env });
    const log = configuredLogger(config.settings);
    for (const remark of remarks ? [...config.remarks, ...preloads(env)] : [])
      log.warn('config.remark', { remark });
    return { config, log };
  } catch (error) {
    return { status: reportFailure(earlyLogger(env), 'start.failed', error) };
  }
}

/** Warns only: preloaded code has already run. The Node of a self-contained folder ignores the variable. */
function preloads(env: Env): string[] {
  if (!env[nodeOptions] || isSelfContained()) return [];
  return [
    `${nodeOptions}: also applied to the wrapper's own Node, so what it loads could read the token; start svc-wrapper by its name, not with node`,
  ];
}

function copyOwnFolder(to: string, env: Env): PreparedConfig {
  const files = copyFolder(ownFolder(), to);
  earlyLogger(env).info('folder.copied', { to, files });
  return { status: 0 };
}

function installOwnFolder(to: string, env: Env): PreparedConfig {
  const installed = installFolder(ownFolder(), to);
  earlyLogger(env).info('folder.installed', { to, ...installed });
  return { status: 0 };
}

function show(text: string): PreparedConfig {
  descriptorSink(standardOutput).write(`${text}\n`);
  return { status: 0 };
}

const head = `Start an application with its secrets.

USAGE
  $ svc-wrapper --secrets=<paths> [--<flag>=<value>]... -- <command> [args]
  $ svc-wrapper --copy-to=<folder>
  $ svc-wrapper --install-to=<folder>

Fetches secrets from the secrets server into protected memory, starts the command with them as environment
variables and through an inherited descriptor (SVC_SECRET_FD), and stays as its init: signals, exit codes,
renewal, rotation, health.

What follows -- is taken literally and overrides SVC_ORIGINAL_CMD and SVC_ORIGINAL_ARGS. A flag overrides
its variable. The application does not inherit the variables that are listed here.

--copy-to must be given alone: it copies the self-contained folder into another and starts nothing.
--install-to keeps each version of the folder below another one, and switches the link 'current' to the newest
atomically.

Exit status: that of the application, 128 + n for a signal n that ended it, 126 or 127 where it cannot be run.
The wrapper's own: 64 usage, 69 secrets server or agent unavailable, 71 memory protection refused,
77 permission denied, 78 configuration.`;

/** What `svc-wrapper --help` prints. */
export function helpText(): string {
  const settings: Setting<unknown>[] = Object.values(wrapperSettings);
  const flags = settings.filter(({ flag }) => flag !== undefined).map(flagEntry);
  const variables = settings.filter(({ flag }) => flag === undefined).map(variableEntry);
  const others = ['  --help\n      Show this.', '  --version\n      Show the version.'];
  return [head, '', 'FLAGS', ...flags, ...others, '', 'VARIABLES WITHOUT A FLAG', ...variables].join('\n');
}

function flagEntry(setting: Setting<unknown>): string {
  return `  --${setting.flag}${setting.switch ? '' : '=<value>'}\n      ${settingSummary(setting)}`;
}

function variableEntry(setting: Setting<unknown>): string {
  return `  ${setting.variable}\n      ${setting.summary}`;
}

export interface Arguments {
  /** What to show instead of running. */
  readonly shows?: 'help' | 'version';
  /** Folder to copy the wrapper's own folder into, instead of running. */
  readonly copyTo?: string;
  /** Folder below which to keep versions of the wrapper's own folder, instead of running. */
  readonly installTo?: string;
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags: Readonly<Record<string, string | boolean>>;
  /** The words after `--`; undefined without `--`. */
  readonly command: readonly string[] | undefined;
}

const settingOf = new Map<string, Setting<unknown>>(
  Object.values(wrapperSettings).flatMap((setting) => ('flag' in setting ? [[setting.flag, setting]] : [])),
);
const folderFlags = {
  /** Copies the wrapper's self-contained folder into the given one, and starts nothing. */
  '--copy-to': 'copyTo',
  /** Keeps the folder below the given one, by version, with a link `current` to it; starts nothing. */
  '--install-to': 'installTo',
} as const;
const known = [
  ...[...settingOf.keys(), 'help', 'version'].map((name) => `--${name}`),
  ...Object.keys(folderFlags),
];
type FolderFlag = keyof typeof folderFlags;
const isFolderFlag = (text: string): text is FolderFlag => Object.hasOwn(folderFlags, text);

/**
 * `svc-wrapper [--flag=value | --flag value]… [-- command args…]`. Messages repeat names of flags but never values,
 * which may be misplaced secrets.
 * @throws SvcError USAGE (exit 64) with every error at once
 */
export function parseArguments(argv: readonly string[]): Arguments {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.includes('--help')) return { shows: 'help', flags: {}, command: undefined };
  if (own.includes('--version')) return { shows: 'version', flags: {}, command: undefined };
  const [first = ''] = own[0]?.split('=', 1) ?? [];
  if (isFolderFlag(first)) return folderArguments(first, argv);
  const command = end === -1 ? undefined : argv.slice(end + 1);
  const { flags, errors } = readFlags(own);
  if (command?.length === 0) errors.push('--: should be followed by a command');
  if (errors.length > 0) throw usage(errors);
  return { flags: Object.fromEntries(flags), command };
}

/** Must be the only flag: nothing else on the command line would have a meaning. */
function folderArguments(flag: FolderFlag, [first = '', ...rest]: readonly string[]): Arguments {
  const [folder = '', ...more] = first === flag ? rest : [first.slice(flag.length + 1), ...rest];
  if (folder === '' || more.length > 0) throw usage([`${flag}: should be given alone, with a folder`]);
  return { [folderFlags[flag]]: folder, flags: {}, command: undefined };
}

function readFlags(own: readonly string[]) {
  const flags = new Map<string, string | boolean>();
  const errors: string[] = [];
  for (let at = 0; at < own.length; at++) {
    const word = own[at] ?? '';
    const [, name = '', , attached] = /^--([^=]+)(=(.*))?$/s.exec(word) ?? [];
    const next = own[at + 1];
    const takesNext = attached === undefined && next !== undefined && !next.startsWith('--');
    const error = errorIn(name, at, flags.has(name), attached === undefined && !takesNext);
    if (error !== undefined) errors.push(error);
    const isSwitch = settingOf.get(name)?.switch === true;
    flags.set(name, attached ?? (isSwitch || !takesNext ? true : next));
    if (name !== '' && takesNext && !isSwitch) at++;
  }
  return { flags, errors };
}

function errorIn(name: string, at: number, repeated: boolean, bare: boolean): string | undefined {
  if (name === '') return `argument ${at + 1}: is not a flag; the command follows --`;
  const setting = settingOf.get(name);
  if (isFolderFlag(`--${name}`)) return `--${name}: should be given alone, with a folder`;
  if (setting === undefined) return `--${name}: unknown flag${hint(`--${name}`, known)}`;
  if (repeated) return `--${name}: should be given once`;
  return bare && !setting.switch ? `--${name}: needs a value, ${setting.expects}` : undefined;
}

function usage(errors: readonly string[]): SvcError {
  return new SvcError('USAGE', `The command line has ${errorCount(errors)}`, {
    nextStep: 'Run `svc-wrapper --help` to see what it takes.',
    exitStatus: exitStatus.usage,
    details: errors,
  });
}
