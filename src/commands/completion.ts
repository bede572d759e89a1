import { string } from '@oclif/core/args';
import { BaseCommand } from '../runtime/cli/base-command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export default class Completion extends BaseCommand {
  static override summary = 'Write a script that completes commands, flags and values in your shell.';
  static override description =
    'Standard output is the script. It knows the plugins that are installed now: write it again after installing or ' +
    'updating one. Source it where your shell starts, after compinit in zsh.';
  static override args = {
    shell: string({ description: 'The shell.', required: true, options: [...SHELLS] }),
  };
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    'source <(<%= config.bin %> completion zsh)',
    '<%= config.bin %> completion fish | source',
  ];

  async run(): Promise<void> {
    const { args } = await this.parse(Completion);
    const { writeCompletion } = await import('../runtime/cli/completion.ts');
    process.stdout.write(writeCompletion(args.shell as (typeof SHELLS)[number], this.config));
  }
}
