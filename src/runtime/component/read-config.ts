import { readFile } from 'node:fs/promises';
import type { ErrorCode, YAMLError } from 'yaml';
import { exitStatus, SvcError } from '../errors.ts';
import { secrets } from '../logging/secrets.ts';
import type { ListenAddress } from '../settings/listen-address.ts';
import {
  type ConfigFile,
  type ConfigSection,
  resolveSettings,
  type SettingsCheck,
  sectionOf,
} from '../settings/resolve.ts';
import type { Resolved, Settings } from '../settings/setting.ts';
import type { Component } from './contract.ts';
import { type CommonConfig, type CommonSettings, withCommonSettings } from './settings.ts';

export interface RunOptions {
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--config`; default: SVC_CONFIG. */
  readonly configFile?: string | undefined;
}

export interface RunConfig<S extends Settings> {
  readonly own: Resolved<S>;
  readonly common: CommonConfig;
  /** Address for health and metrics, if they are served. */
  readonly healthAddress: ListenAddress | undefined;
}

/**
 * Resolves a component's settings and registers the secret ones for redaction in logs.
 * @throws SvcError CONFIG_INVALID
 */
export async function readConfig<S extends Settings>(
  component: Pick<Component<S>, 'name' | 'settings' | 'check'>,
  options: RunOptions,
): Promise<RunConfig<S>> {
  const settings = withCommonSettings(component.settings);
  const file = await sectionOfFile(options.configFile, options.env, component.name, settings);
  const check = component.check?.bind(component) as SettingsCheck<S & CommonSettings> | undefined;
  const config = resolveSettings(settings, { flags: options.flags ?? {}, env: options.env, file }, check);
  registerSecrets(settings, config);
  const { health } = config as { health?: ListenAddress };
  return { own: config as Resolved<S>, common: config as CommonConfig, healthAddress: health };
}

function registerSecrets(settings: Settings, config: Readonly<Record<string, unknown>>): void {
  for (const [key, { secret }] of Object.entries(settings)) {
    const value = config[key];
    if (secret && typeof value === 'string') secrets.register(value);
  }
}

/**
 * Reads a YAML configuration file. Scalars stay text (`5` is "5", `true` is "true"), so that a value means the same as
 * in a variable.
 * @throws SvcError CONFIG_INVALID with the line of a syntax error
 */
export async function loadConfigFile(path: string): Promise<ConfigFile> {
  const text = await readText(path);
  const { default: yaml } = await import('yaml');
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { schema: 'failsafe', prettyErrors: false, lineCounter });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) throw syntaxError(path, faults, lineCounter);
  try {
    return { path, content: document.toJS() };
  } catch {
    throw invalid(path, 'has an alias without an anchor, or repeats one too often', []);
  }
}

/**
 * The section for a command or component in the file named by `--config` or SVC_CONFIG; undefined without a file.
 * @throws SvcError CONFIG_INVALID
 */
export async function sectionOfFile(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  settings: Settings,
): Promise<ConfigSection | undefined> {
  const path = flag ?? (env['SVC_CONFIG'] || undefined);
  return path === undefined ? undefined : sectionOf(await loadConfigFile(path), name, settings);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw invalid(path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, [], cause);
  }
}

function syntaxError(path: string, faults: readonly YAMLError[], lines: { linePos(at: number): Position }) {
  const details = faults.map((fault) => {
    const { line, col } = lines.linePos(fault.pos[0]);
    return `${path}:${line}:${col}: ${withoutSource(fault)}`;
  });
  return invalid(path, 'is not valid YAML', details);
}

interface Position {
  readonly line: number;
  readonly col: number;
}

/** Replacements for parser messages that quote the file, which may contain a secret. */
const quoting: Partial<Record<ErrorCode, string>> = {
  BAD_DIRECTIVE: 'Unknown directive',
  BAD_DQ_ESCAPE: 'Invalid escape sequence',
  BAD_SCALAR_START: 'Plain value that begins with a reserved character',
  TAG_RESOLVE_FAILED: 'Unknown tag',
  UNEXPECTED_TOKEN: 'Unexpected text',
};

/** Other messages quote the file only after a colon or quotation mark. */
function withoutSource({ code, message }: YAMLError): string {
  return quoting[code] ?? message.replace(/[:"'`].*$/s, '').trim();
}

function invalid(path: string, what: string, details: readonly string[], cause?: unknown): SvcError {
  return new SvcError('CONFIG_INVALID', `The configuration file ${path} ${what}`, {
    nextStep: 'Fix the file, or name another with --config or SVC_CONFIG.',
    exitStatus: exitStatus.config,
    details,
    cause,
  });
}
