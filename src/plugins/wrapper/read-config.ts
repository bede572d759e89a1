import { encodeOriginalArgs } from '../../core/command-line/original-args.ts';
import { resolveSettings } from '../../core/settings/resolve.ts';
import type { Setting } from '../../core/settings/setting.ts';
import { checkWrapper, remarksOn } from './rules.ts';
import { type ResolvedWrapperSettings, type WrapperSettings, wrapperSettings } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface ConfigSources {
  /** By flag name without dashes. */
  readonly flags: Readonly<Record<string, string | boolean>>;
  /** VAULT_TOKEN may hold anything that is not the token: only its presence counts. */
  readonly env: Env;
  /** What stands after `--`; it wins over the variables. */
  readonly command: readonly string[] | undefined;
}

export interface WrapperConfig {
  readonly settings: ResolvedWrapperSettings;
  /** A path, or a name to look up along PATH. */
  readonly file: string;
  readonly args: readonly string[];
  /** To be logged: what is allowed but hardly meant. */
  readonly remarks: readonly string[];
}

/** @throws SvcError CONFIG_INVALID (exit 78) whose details name every mistake at once */
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
