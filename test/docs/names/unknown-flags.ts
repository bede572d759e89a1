import { type Command, commands } from '../../../scripts/docs/reference/manifest.ts';
import { folderFlags } from '../../../scripts/docs/reference/wrapper-flags.ts';
import { type CommandLine, codeIn, commandLinesIn, flagsIn } from './command-lines.ts';

const ofEveryCommand = ['--help', '--version'];

const ofWrapper = [...ofEveryCommand, ...folderFlags().map(({ flag }) => flag)];

/** Flags in the code of a page that the command before them does not have or, alone, none of ours. */
export function unknownFlags(text: string): readonly string[] {
  return codeIn(text).flatMap(commandLinesIn).flatMap(unknownIn);
}

function unknownIn(words: CommandLine): string[] {
  const known = knownAfter(words);
  return known === undefined ? [] : flagsIn(words).filter((flag) => !known.includes(flag));
}

/** Undefined where the command is not ours. */
function knownAfter(words: CommandLine): readonly string[] | undefined {
  const [first = ''] = words;
  if (first.startsWith('--')) return [...commands().flatMap(flagsOf), ...ofWrapper];
  if (first === 'svc-wrapper') return [...flagsOf(commandOf(['svc', 'run', 'wrapper'])), ...ofWrapper];
  if (first !== 'svc' || words[1] === 'plugins') return undefined;
  return [...flagsOf(commandOf(words)), ...ofEveryCommand];
}

/** The command with the most words of those that are typed. */
function commandOf([, ...words]: CommandLine): Command | undefined {
  const begins = ({ id }: Command) => id.split(':').every((part, at) => words[at] === part);
  return commands()
    .filter(begins)
    .sort((a, b) => b.id.length - a.id.length)[0];
}

const flagsOf = (command: Command | undefined): string[] =>
  Object.keys(command?.flags ?? {}).map((name) => `--${name}`);
