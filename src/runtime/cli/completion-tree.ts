/** A flag as the command line describes it. */
export interface DescribedFlag {
  readonly name: string;
  readonly type: string;
  readonly char?: string | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly helpValue?: string | readonly string[] | undefined;
  readonly options?: readonly string[] | undefined;
  readonly hidden?: boolean | undefined;
}

export interface DescribedCommand {
  /** Words joined by colons. */
  readonly id: string;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly flags: Readonly<Record<string, DescribedFlag>>;
  readonly args: Readonly<Record<string, { readonly options?: readonly string[] | undefined }>>;
  readonly usage?: string | readonly string[] | undefined;
}

export interface DescribedTopic {
  readonly name: string;
  readonly description?: string | undefined;
  readonly hidden?: boolean | undefined;
}

/**
 * The completable parts of a command line. Shell syntax is left out: summaries are one line of plain text, and names
 * and choices with special characters are dropped.
 */
export function completionTree(
  bin: string,
  commands: readonly DescribedCommand[],
  topics: readonly DescribedTopic[],
): CompletionTree {
  const shown = commands.filter(({ id, hidden }) => !hidden && id.split(':').every(isPlain));
  const nodes = new Map<string, CompletionNode>([['', emptyNode([], '')]]);
  for (const { name, description, hidden } of topics) {
    if (!hidden && name.split(':').every(isPlain)) nodes.set(name, emptyNode(name.split(':'), description));
  }
  for (const command of shown) nodes.set(command.id, commandNode(command));
  for (const id of shown.flatMap(({ id }) => parents(id)))
    if (!nodes.has(id)) nodes.set(id, emptyNode(id.split(':'), ''));
  return { bin, nodes: [...nodes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, node]) => node) };
}

function emptyNode(words: readonly string[], summary: string | undefined): CompletionNode {
  return { words, summary: oneLine(summary), flags: [], choices: [], runsCommand: false };
}

function commandNode({ id, summary, description, flags, args, usage }: DescribedCommand): CompletionNode {
  const [first] = Object.values(args);
  return {
    words: id.split(':'),
    summary: oneLine(summary ?? description),
    flags: [
      ...Object.values(flags)
        .filter(({ hidden }) => !hidden)
        .map(completionFlag),
      HELP,
    ].filter(({ name }) => isPlain(name)),
    choices: (first?.options ?? []).filter(isPlain),
    runsCommand: [usage].flat().some((line) => line?.includes('-- COMMAND')),
  };
}

const HELP: CompletionFlag = {
  name: 'help',
  char: undefined,
  summary: 'Show help',
  takesValue: false,
  choices: [],
  isFile: false,
};

function completionFlag(flag: DescribedFlag): CompletionFlag {
  const { name, type, char, summary, description, options } = flag;
  const values = [flag.helpValue ?? []].flat().join('|');
  const named = /^[\w.-]+(\|[\w.-]+)+$/.test(values) ? values.split('|') : [];
  return {
    name,
    char: char !== undefined && isPlain(char) ? char : undefined,
    summary: oneLine(summary ?? description),
    takesValue: type === 'option',
    choices: (options ?? named).filter(isPlain),
    isFile: /^<(file|folder|path)>$/.test(values),
  };
}

function parents(id: string): string[] {
  const words = id.split(':');
  return words.slice(1).map((_, index) => words.slice(0, index + 1).join(':'));
}

function isPlain(word: string): boolean {
  return /^[\w.@/+-]+$/.test(word);
}

/**
 * The first line, without the trailing variable and default, and without characters that shells or templates interpret.
 */
function oneLine(text = ''): string {
  const [line = ''] = text.split('\n');
  return line
    .replace(/ \[[^\]]*\]$/, '')
    .replaceAll(/[^\p{L}\p{N} _.,:;()/+=<>@%&|*?!-]/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** A command line as a shell completes it. */
export interface CompletionTree {
  /** The program's own name. */
  readonly bin: string;
  /** All commands and topics except hidden ones. */
  readonly nodes: readonly CompletionNode[];
}

/** A command, or a topic that only groups others. */
export interface CompletionNode {
  /** Words after the program's name; empty for the program itself. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly flags: readonly CompletionFlag[];
  /** Choices of the first argument. */
  readonly choices: readonly string[];
  /** The words after `--` form another command line. */
  readonly runsCommand: boolean;
}

export interface CompletionFlag {
  /** Without dashes. */
  readonly name: string;
  readonly char: string | undefined;
  readonly summary: string;
  /** False for a flag without value. */
  readonly takesValue: boolean;
  /** Possible values, if they are few. */
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

/** Prefix of the functions in a script. */
export function functionName(bin: string): string {
  return `_${bin.replaceAll(/\W/g, '_')}`;
}

/** The children of a node, by name. */
export function below(tree: CompletionTree, node: CompletionNode): CompletionNode[] {
  const start = node.words.length === 0 ? '' : `${keyOf(node)} `;
  return tree.nodes.filter(
    (other) => other.words.length === node.words.length + 1 && keyOf(other).startsWith(start),
  );
}
