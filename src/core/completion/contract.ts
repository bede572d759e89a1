/** A command line as a shell completes it. */
export interface CompletionTree {
  /** The program's own name. */
  readonly bin: string;
  /** Every command and topic but hidden ones. */
  readonly nodes: readonly CompletionNode[];
}

/** A command, or a topic that only groups others. */
export interface CompletionNode {
  /** After the program's name; empty for the program itself. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly flags: readonly CompletionFlag[];
  /** Choices of its first argument. */
  readonly choices: readonly string[];
  /** What stands after `--` is another command line. */
  readonly runsCommand: boolean;
}

export interface CompletionFlag {
  /** Without dashes. */
  readonly name: string;
  readonly char: string | undefined;
  readonly summary: string;
  /** False for a flag that stands alone. */
  readonly takesValue: boolean;
  /** Values, where they are few. */
  readonly choices: readonly string[];
  /** The value names a file or folder. */
  readonly isFile: boolean;
}

/** The words of a node as one key, such as `run proxy`. */
export function keyOf({ words }: Pick<CompletionNode, 'words'>): string {
  return words.join(' ');
}

/** The last word of a node; empty for the program itself. */
export function nameOf({ words }: Pick<CompletionNode, 'words'>): string {
  return words.at(-1) ?? '';
}

/** A flag as it is typed, the short form first. */
export function dashed({ name, char }: CompletionFlag): string[] {
  return [...(char === undefined ? [] : [`-${char}`]), `--${name}`];
}

/** What the functions of a script begin with. */
export function functionName(bin: string): string {
  return `_${bin.replaceAll(/\W/g, '_')}`;
}

/** The nodes one word below, by name. */
export function below(tree: CompletionTree, node: CompletionNode): CompletionNode[] {
  const start = node.words.length === 0 ? '' : `${keyOf(node)} `;
  return tree.nodes.filter(
    (other) => other.words.length === node.words.length + 1 && keyOf(other).startsWith(start),
  );
}
