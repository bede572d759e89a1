import { vaultRules } from '../../keyserver/settings.ts';
import { applyRules, type Rule, resolveSettings } from '../../runtime/settings/resolve.ts';
import { encodeOriginalArgs, type Setting } from '../../runtime/settings/setting.ts';
import { type ResolvedWrapperSettings, type WrapperSettings, wrapperSettings } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  /** By flag name without dashes. */
  readonly flags: Readonly<Record<string, string | boolean>>;
  /** VAULT_TOKEN must not hold the token itself: only its presence counts. */
  readonly env: Env;
  /** The words after `--`; they take precedence over the variables. */
  readonly command: readonly string[] | undefined;
}

export interface WrapperConfig {
  readonly settings: ResolvedWrapperSettings;
  /** A path, or a name to look up in PATH. */
  readonly file: string;
  readonly args: readonly string[];
  /** To be logged: settings that are allowed but probably unintended. */
  readonly remarks: readonly string[];
}

/** @throws SvcError CONFIG_INVALID (exit 78) whose details list every error */
export function readConfig({ flags, env, command }: ConfigSources): WrapperConfig {
  const settings = resolveSettings(
    wrapperSettings,
    { flags, env: { ...withoutToken(env), ...asVariables(command) } },
    checkWrapper,
  );
  const { originalCmd: file = '', originalArgs: args = [] } = settings;
  const isGiven = (name: keyof WrapperSettings) => {
    const setting: Setting<unknown> = wrapperSettings[name];
    return (
      (setting.flag !== undefined && flags[setting.flag] !== undefined) || Boolean(env[setting.variable])
    );
  };
  return { settings, file, args, remarks: remarksOn(settings, isGiven) };
}

function asVariables(command: readonly string[] | undefined): Env {
  if (command === undefined) return {};
  const [file, ...args] = command;
  return { SVC_ORIGINAL_CMD: file, SVC_ORIGINAL_ARGS: encodeOriginalArgs(args) };
}

function withoutToken(env: Env): Env {
  return env['VAULT_TOKEN'] ? { ...env, VAULT_TOKEN: '*' } : env;
}

type Config = ResolvedWrapperSettings;

const wrapperRules: readonly Rule<Config>[] = [
  commandKnown,
  pathsDiffer,
  groupsHavePaths,
  mapForMapOnly,
  execWithoutRotation,
];

/** Rules across settings; one error a line. */
const checkWrapper = (config: Config): readonly string[] =>
  applyRules(config, [...wrapperRules, ...vaultRules]);

/**
 * Warnings on settings that are allowed but probably unintended, or for development only; one a line.
 * @param isGiven whether a flag or variable sets the setting
 */
const remarksOn = (config: Config, isGiven: (setting: keyof Config) => boolean): readonly string[] =>
  applyRules(config, [signalWithoutDescriptor, unverified, (one) => ignoredUnderExec(one, isGiven)]);

/** Settings that need a resident wrapper. The agent's address does not: it is used before the wrapper leaves. */
const needWrapper = ['renewalInterval', 'stopGrace', 'signalGroup', 'healthAddr'] as const;

function ignoredUnderExec(config: Config, isGiven: (setting: keyof Config) => boolean): string | undefined {
  if (!config.exec) return undefined;
  const ignored = needWrapper.filter(
    (name) => isGiven(name) && config[name] !== undefined && config[name] !== false,
  );
  if (ignored.length === 0) return undefined;
  const names = ignored.map((name) => wrapperSettings[name].variable).join(', ');
  return `SVC_EXEC: no wrapper stays, so these are ignored: ${names}`;
}

function commandKnown({ originalCmd }: Config): string | undefined {
  return originalCmd === undefined
    ? 'SVC_ORIGINAL_CMD: required, should be a command, unless one follows --'
    : undefined;
}

function pathsDiffer({ secretPaths }: Config): string | undefined {
  const twice = secretPaths.filter((path, at) => secretPaths.indexOf(path) !== at);
  return twice.length > 0
    ? `SVC_SECRET_PATHS: each path should be named once, ${twice.join(', ')} is repeated`
    : undefined;
}

function groupsHavePaths({ envMap, secretPaths }: Config): string | undefined {
  if (envMap === undefined || envMap.length <= secretPaths.length) return undefined;
  return `SVC_ENV_MAP: has ${envMap.length} groups, should have at most one per path, and SVC_SECRET_PATHS names ${secretPaths.length}`;
}

function mapForMapOnly({ envMapOnly, envMap }: Config): string | undefined {
  return envMapOnly && !envMap?.some((group) => group.length > 0)
    ? 'SVC_ENV_MAP: required, because SVC_ENV_MAP_ONLY is true and nothing would be delivered'
    : undefined;
}

function execWithoutRotation({ exec, rotation }: Config): string | undefined {
  return exec && rotation !== 'none'
    ? `SVC_ROTATION: must be none, because SVC_EXEC is true and no wrapper stays to rotate, is "${rotation}"`
    : undefined;
}

/**
 * A warning, not an error: the specification allows the signal, and an application may fetch secrets itself upon it.
 */
function signalWithoutDescriptor({ rotation, delivery }: Config): string | undefined {
  return rotation === 'sighup' && delivery === 'env'
    ? 'SVC_ROTATION: sighup cannot change the environment of a running application; with SVC_DELIVERY=env it sees the old values until it is started again'
    : undefined;
}

function unverified({ vaultSkipVerify }: Config): string | undefined {
  return vaultSkipVerify
    ? 'VAULT_SKIP_VERIFY: the certificate of the secrets server is not verified; for development only'
    : undefined;
}
