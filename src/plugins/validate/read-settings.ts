import type { RecoveryRehearsal, RehearsalPlan } from '../../objects/format/recovery-rehearsal.ts';
import type { Screen } from '../../runtime/cli/terminal.ts';
import type { Component } from '../../runtime/component/contract.ts';
import { loadConfigFile } from '../../runtime/component/read-config.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import type { FailOn } from '../../runtime/report/check-outcome.ts';
import {
  findGiven,
  invalidConfig,
  type Sources,
  sectionOf,
  wrongValue,
} from '../../runtime/settings/resolve.ts';
import type { Setting, Settings } from '../../runtime/settings/setting.ts';
import { type Area, type ValidateConfig, type ValidateFormat, validateSettings } from './settings.ts';

export interface ReadSettings {
  /** Path of the configuration file, if given. */
  readonly configFile: string | undefined;
  readonly config: ValidateConfig;
  /** Errors in variables and the file, a sentence each, for the check of the configuration. */
  readonly errors: readonly string[];
}

/**
 * An invalid variable is a finding rather than wrong usage, so it counts as not given.
 * @throws SvcError CONFIG_INVALID for wrong flags, and for a file that cannot be read
 */
export async function readSettings({ flags, given, env }: ValidateCall): Promise<ReadSettings> {
  const path = flags.config ?? (env['SVC_CONFIG'] || undefined);
  const file =
    path === undefined ? undefined : sectionOf(await loadConfigFile(path), 'validate', validateSettings);
  const wrongFlags: string[] = [];
  const errors = [...(file?.errors ?? [])];
  const values = Object.entries(validateSettings).map(([key, setting]) => {
    const sources: Sources = { flags: given, env, file };
    return [key, readOne(setting, sources, wrongFlags, errors)] as const;
  });
  if (wrongFlags.length > 0) throw invalidConfig(wrongFlags);
  return { configFile: path, config: Object.fromEntries(values) as unknown as ValidateConfig, errors };
}

function readOne(setting: Setting<unknown>, sources: Sources, wrongFlags: string[], errors: string[]) {
  const given = findGiven(setting, sources);
  if (given === undefined) return undefined;
  if (setting.secret) secrets.register(given.text);
  try {
    return setting.parse(given.text);
  } catch (error) {
    const byFlag = setting.flag !== undefined && sources.flags?.[setting.flag] !== undefined;
    (byFlag ? wrongFlags : errors).push(wrongValue(setting, given, error));
    return setting.fallback === undefined ? undefined : setting.parse(setting.fallback);
  }
}

export type ValidateEnv = Readonly<Record<string, string | undefined>>;

export interface ValidateOutput extends Screen {
  write(text: string): unknown;
}

/** The flags of `svc validate`, by name, without those of settings. */
export interface ValidateFlags {
  readonly output: ValidateFormat;
  readonly json: boolean;
  readonly 'fail-on': FailOn;
  readonly wait?: string | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly area?: readonly Area[] | undefined;
  readonly check?: readonly string[] | undefined;
  readonly pre: boolean;
  readonly node: boolean;
  readonly 'rehearse-recovery': boolean;
  readonly config?: string | undefined;
}

export interface ValidateCall {
  readonly flags: ValidateFlags;
  /** Flags of settings, by name. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: ValidateEnv;
  readonly stdout: ValidateOutput;
  /** For progress and warnings. */
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  /** Of svc. */
  readonly version: string;
  /** The components whose configuration is checked. Loaded on demand. */
  readonly components: () => Promise<readonly ComponentRules[]>;
  /** The proxy, for the canary object if none runs. */
  readonly proxy: () => Promise<Component>;
  /** Opens objects with recovery keys. Loaded on demand. */
  readonly rehearse: () => Promise<RehearseRecovery>;
}

type RehearseRecovery = (
  settings: Pick<
    ValidateConfig,
    'upstream' | 'region' | 'defaultRegion' | 'reservedPrefix' | 'stateBucket'
  > & { readonly recoveryKey: string },
  env: ValidateEnv,
  plan: RehearsalPlan,
) => Promise<RecoveryRehearsal>;

/** The rules for the configuration of a component. */
export interface ComponentRules {
  readonly name: string;
  readonly settings: Settings;
  check?(config: never): readonly string[];
}
