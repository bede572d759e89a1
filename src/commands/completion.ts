import { string } from '@oclif/core/args';
import { BaseCommand } from '../runtime/cli/base-command.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../runtime/cli/completion-scripts.ts';
import { completionTree } from '../runtime/cli/completion-tree.ts';

const writers = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export default class Completion extends BaseCommand {
  static override summary = 'Write a script that completes commands, flags and values in your shell.';
  static override description =
    'Standard output is the script. It knows the plugins that are installed now: write it again after installing or ' +
    'updating one. Source it where your shell starts, after compinit in zsh.';
  static override args = {
    shell: string({ description: 'The shell.', required: true, options: Object.keys(writers) }),
  };
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    'source <(<%= config.bin %> completion zsh)',
    '<%= config.bin %> completion fish | source',
  ];

  async run(): Promise<void> {
    const { args } = await this.parse(Completion);
    const { bin, commands, topics } = this.config;
    process.stdout.write(writers[args.shell as keyof typeof writers](completionTree(bin, commands, topics)));
  }
}
