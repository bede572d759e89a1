import type { Command } from '@oclif/core/command';
import type { Settings } from '../core/settings/setting.ts';
import { componentCommand as make } from '../runtime/cli/component-command.ts';
import type { ComponentCommandOptions } from '../runtime/cli/component-command-options.ts';

/**
 * The command that runs a component; the default export of `commands/run/<name>`. It has a flag for each setting, the
 * common ones and `--config`, and ends with the component's exit status.
 */
export const componentCommand: <S extends Settings>(options: ComponentCommandOptions<S>) => Command.Class =
  make;
