import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DOCKERFILE = fileURLToPath(new URL('../../manifests/Dockerfile', import.meta.url));

/** What the instructions of a target and of the stages below it come to. */
export interface DockerTarget {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly user: string;
  readonly env: readonly string[];
  readonly packages: readonly string[];
}

interface Stage {
  readonly from: string;
  readonly instructions: readonly (readonly [string, string])[];
}

/** @throws Error for a target that there is not */
export function dockerTarget(name: string): DockerTarget {
  const instructions = chain(stages(readFileSync(DOCKERFILE, 'utf8')), name);
  const all = (word: string) => instructions.flatMap(([found, rest]) => (found === word ? [rest] : []));
  const list = (word: string): string[] => JSON.parse(all(word).at(-1) ?? '[]');
  return {
    entrypoint: list('ENTRYPOINT'),
    cmd: list('CMD'),
    user: all('USER').at(-1) ?? '',
    // none has a value with a space
    env: all('ENV').flatMap((line) => line.split(' ')),
    packages: all('RUN').flatMap(
      (line) => /apt-get install(?: --\S+)* (.*?) *(?:&&|$)/.exec(line)?.[1]?.split(' ') ?? [],
    ),
  };
}

/** Instructions of a stage, those that it is built from first. */
function chain(all: ReadonlyMap<string, Stage>, name: string): (readonly [string, string])[] {
  const stage = all.get(name);
  if (stage === undefined) throw new Error(`no target ${name}`);
  return [...(all.has(stage.from) ? chain(all, stage.from) : []), ...stage.instructions];
}

function stages(text: string): Map<string, Stage> {
  const found = new Map<string, Stage>();
  const joined = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  for (const part of joined.split(/^(?=FROM )/m)) {
    const [first = '', ...lines] = part.trim().split('\n');
    const [, from = '', name = ''] = /^FROM (\S+) AS (\S+)$/.exec(first) ?? [];
    found.set(name, { from, instructions: lines.filter(Boolean).map(instruction) });
  }
  return found;
}

function instruction(line: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
  return [word, rest];
}
