import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageFolder } from '../../runtime/component/package-folder.ts';
import { loadConfigFile } from '../../runtime/component/read-config.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { resetSignals } from '../../runtime/native/processes.ts';
import { createSecretMemory } from '../../runtime/native/secret-memory.ts';
import { execute } from '../../runtime/native/spawn.ts';
import { type ConfigSection, findGiven, invalidConfig, sectionOf } from '../../runtime/settings/resolve.ts';
import type { Setting } from '../../runtime/settings/setting.ts';
import { withoutDebugger } from './init/records.ts';
import { inheritedEnvironment, nameOf, withoutNodeOptions } from './prepare-application.ts';
import { withStrings } from './replace-process.ts';
import { wrapperSettings } from './settings.ts';

export interface WrapperInvocation {
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  /** `--config`; SVC_CONFIG when absent. */
  readonly configFile: string | undefined;
  /** `--` and everything after it; empty if variables give the command. */
  readonly rest: readonly string[];
}

/**
 * Replaces this process by the wrapper, so that nothing of the command line tool stays in memory.
 * @throws SvcError CONFIG_INVALID for an invalid file, WRAPPER_MISSING, NATIVE_CALL_FAILED
 */
export async function becomeWrapper({ flags, configFile, rest }: WrapperInvocation): Promise<never> {
  const env = environment(await sectionFrom(configFile));
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  const file = process.execPath;
  const args = [withoutDebugger, bundle(), ...Object.entries(flags).flatMap(asArgument), ...rest];
  return withStrings({ file, args, env, memory }, (strings) => {
    const restoreSignals = resetSignals();
    try {
      return execute({ file, ...strings, inherit: [0, 1, 2] });
    } finally {
      restoreSignals();
    }
  });
}

function bundle(): string {
  const path = fileURLToPath(new URL('dist/wrapper.cjs', packageFolder()));
  if (existsSync(path)) return path;
  throw new SvcError('WRAPPER_MISSING', `The wrapper is not built: ${path} is missing`, {
    nextStep: 'Run `npm run build`, or install the package again.',
    exitStatus: exitStatus.internal,
  });
}

async function sectionFrom(configFile: string | undefined): Promise<ConfigSection | undefined> {
  const path = configFile ?? (process.env['SVC_CONFIG'] || undefined);
  if (path === undefined) return undefined;
  const section = sectionOf(await loadConfigFile(path), 'wrapper', wrapperSettings);
  if (section.errors.length > 0) throw invalidConfig(section.errors);
  return section;
}

/** This process's environment, and what the file adds. */
function environment(section: ConfigSection | undefined): Uint8Array[] {
  const added = section === undefined ? new Map<string, string>() : fileVariables(section, process.env);
  const kept = inheritedEnvironment().filter((entry) => !added.has(nameOf(entry)));
  return [...withoutNodeOptions(kept), ...[...added].map(([name, value]) => Buffer.from(`${name}=${value}`))];
}

function asArgument([name, value]: [string, string | boolean | undefined]): string[] {
  if (value === undefined) return [];
  return [value === true ? `--${name}` : `--${name}=${value}`];
}

type Env = Readonly<Record<string, string | undefined>>;

/** Values of the configuration file as variables, unless the environment sets them. */
export function fileVariables(file: ConfigSection, env: Env): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const setting of Object.values<Setting<unknown>>(wrapperSettings)) {
    const { fallback: _, ...withoutDefault } = setting;
    const given = findGiven(withoutDefault, { env, file });
    if (given !== undefined && given.text !== env[setting.variable])
      variables.set(setting.variable, given.text);
  }
  return variables;
}
