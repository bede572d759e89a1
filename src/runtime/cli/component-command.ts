import type { Interfaces } from '@oclif/core';
import { string } from '@oclif/core/flags';
import type { ComponentCommandOptions } from '../component/contract.ts';
import { commonSettings } from '../component/settings.ts';
import type { Settings } from '../settings/setting.ts';
import { BaseCommand } from './base-command.ts';
import { flagsOf, variablesOnly } from './setting-flags.ts';

export type GivenFlags = Record<string, string | boolean | undefined>;

/**
 * Creates the oclif command `svc run <component>`, with flags from the settings and the component's exit status.
 * Installed plugins use it for their own components.
 */
export function componentCommand<S extends Settings>(options: ComponentCommandOptions<S>) {
  return class ComponentCommand extends BaseCommand {
    static override summary = options.summary;
    static override description = describe(options);
    static override examples = options.examples ?? [];
    static override flags: Interfaces.FlagInput = {
      config: string({ summary: 'YAML file with settings [SVC_CONFIG]', helpValue: '<file>' }),
      ...flagsOf(options.settings),
      ...flagsOf(commonSettings, 'COMMON'),
    };

    async run(): Promise<void> {
      const { flags } = await this.parse(this.ctor);
      await this.start(flags as GivenFlags & { config?: string });
    }

    /** Runs the component until it ends. */
    async start({ config: configFile, ...given }: GivenFlags & { config?: string }): Promise<void> {
      const [component, { runComponent }] = await Promise.all([
        options.load(),
        import('../component/run-component.ts'),
      ]);
      this.exit(await runComponent(component, { flags: given, env: process.env, configFile }));
    }
  };
}

function describe<S extends Settings>({ description, settings }: ComponentCommandOptions<S>): string {
  const variables = variablesOnly(settings);
  const only = variables.length > 0 ? `Set by variable only:\n${variables.join('\n')}` : undefined;
  return [description, only].filter((part) => part !== undefined).join('\n\n');
}
