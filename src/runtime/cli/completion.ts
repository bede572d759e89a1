import { bashCompletion } from '../../core/completion/bash.ts';
import { fishCompletion } from '../../core/completion/fish.ts';
import { completionTree, type DescribedCommand, type DescribedTopic } from '../../core/completion/tree.ts';
import { zshCompletion } from '../../core/completion/zsh.ts';

const writers = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export type Shell = keyof typeof writers;

/** The command line as oclif knows it, plugins included. */
interface CommandLine {
  readonly bin: string;
  readonly commands: readonly DescribedCommand[];
  readonly topics: readonly DescribedTopic[];
}

/** The completion script of a shell. */
export function writeCompletion(shell: Shell, { bin, commands, topics }: CommandLine): string {
  return writers[shell](completionTree(bin, commands, topics));
}
