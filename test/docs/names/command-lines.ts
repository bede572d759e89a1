/** Words that are typed together; of a pipeline or list each part by itself. */
export type CommandLine = readonly string[];

/** Everything in a page that stands as code: lines of blocks, continued ones as one, and spans within prose. */
export function codeIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^ *```.*\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
  const prose = text.replace(/^ *```.*\n[\s\S]*?^ *```$/gm, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replace(/\s+/g, ' '));
  return [...blocks.flatMap((block) => block.replace(/\\\n\s*/g, ' ').split('\n')), ...spans];
}

/** The commands of a line of code, without prompts, comments, variables before them and `npx`. */
export function commandLinesIn(code: string): readonly CommandLine[] {
  return code
    .replace(/(^|\s)#.*$/, '')
    .split(/\||&&|;|\$\(|\)/)
    .map((part) => part.trim().split(/\s+/))
    .map((words) =>
      words.slice(words.findIndex((word) => !/^(?:\$|npx|exec|sudo|[A-Z][A-Z0-9_]*=.*)$/.test(word))),
    )
    .filter(([first = '']) => first !== '');
}

/** The flags among words, without values; what stands behind `--` is another's. */
export function flagsIn(words: CommandLine): readonly string[] {
  const end = words.indexOf('--');
  return (end === -1 ? words : words.slice(0, end))
    .filter((word) => /^--[a-z]/.test(word))
    .map((word) => /^--[a-z][a-z0-9-]*/.exec(word)?.[0] ?? '');
}
