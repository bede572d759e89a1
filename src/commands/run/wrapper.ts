import type { Interfaces } from '@oclif/core';
import { string } from '@oclif/core/flags';
import { wrapperSettings } from '../../plugins/wrapper/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { flagsOf, variablesOnly } from '../../runtime/cli/setting-flags.ts';

const description = `Fetches secrets from the secrets server into protected memory, starts the command with them as environment variables and through an inherited descriptor (SVC_SECRET_FD), and stays as its init: signals, exit codes, renewal, rotation, health. The same as svc-wrapper, which starts sooner.

What follows -- is taken literally and overrides SVC_ORIGINAL_CMD and SVC_ORIGINAL_ARGS. The application does not inherit the variables that are listed here.

Exits with the status of the application; 69, 71, 77 or 78 where it could not be started.`;

export default class RunWrapper extends BaseCommand {
  static override summary = 'Start an application with its secrets.';
  static override description =
    `${description}\n\nSet by variable only:\n${variablesOnly(wrapperSettings).join('\n')}`;
  static override usage = 'run wrapper [FLAGS] -- COMMAND [ARGS]';
  static override examples = [
    '<%= config.bin %> run wrapper --secrets secret/app --vault-address https://vault.example.eu:8200 -- node server.js',
    '<%= config.bin %> run wrapper --rotation restart --env-map password=DB_PASSWORD --config svc.yaml -- ./app --port 80',
  ];
  static override flags: Interfaces.FlagInput = {
    config: string({ summary: 'YAML file with settings [SVC_CONFIG]', helpValue: '<file>' }),
    ...flagsOf(wrapperSettings),
  };

  async run(): Promise<void> {
    const end = this.argv.indexOf('--');
    const rest = end === -1 ? [] : this.argv.slice(end);
    const { flags } = await this.parse(RunWrapper, end === -1 ? this.argv : this.argv.slice(0, end));
    const { config: configFile, ...given } = flags as Record<string, string | boolean | undefined> & {
      config?: string;
    };
    const { becomeWrapper } = await import('../../plugins/wrapper/become-wrapper.ts');
    await becomeWrapper({ flags: given, configFile, rest });
  }
}
