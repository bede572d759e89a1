import type { ListenAddress } from '../../core/settings/listen-address.ts';
import { type Check, resolveSettings } from '../../core/settings/resolve.ts';
import type { Resolved, Settings } from '../../core/settings/setting.ts';
import { sectionOfFile } from '../config/load-file.ts';
import { secrets } from '../logging/secrets.ts';
import { type CommonConfig, type CommonSettings, withCommonSettings } from './common-settings.ts';
import type { Component } from './contract.ts';

export interface RunOptions {
  /** By flag name without dashes; `true` for a flag without a value. */
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--config`; SVC_CONFIG when absent. */
  readonly configFile?: string | undefined;
}

export interface RunConfig<S extends Settings> {
  readonly own: Resolved<S>;
  readonly common: CommonConfig;
  /** Where health and metrics are served, if anywhere. */
  readonly healthAddress: ListenAddress | undefined;
}

/**
 * Resolves the settings of a component and registers its secret ones with the log's redaction.
 * @throws SvcError CONFIG_INVALID
 */
export async function readConfig<S extends Settings>(
  component: Pick<Component<S>, 'name' | 'settings' | 'check'>,
  options: RunOptions,
): Promise<RunConfig<S>> {
  const settings = withCommonSettings(component.settings);
  const file = await sectionOfFile(options.configFile, options.env, component.name, settings);
  const check = component.check?.bind(component) as Check<S & CommonSettings> | undefined;
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
