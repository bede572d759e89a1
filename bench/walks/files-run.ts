import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const program = fileURLToPath(new URL('from-source.ts', import.meta.url));
const source = new URL('../../src/', import.meta.url).href;

/** Tells which files of src/ a process runs. */
export interface Walk {
  /** For a helper's `under`: starts what follows from source, with its calls counted. */
  readonly under: readonly string[];
  /** Forgets what ran until now. */
  begin(pid: number): Promise<void>;
  /** Files of which a function was called since `begin`, or since the start; of a process that has ended without `pid`. */
  end(pid?: number): Promise<string[]>;
  /** Files that each of three calls runs, as what a process does besides comes by chance; `before` is not counted. */
  inEach(pid: number, call: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<string[]>;
  remove(): Promise<void>;
}

/** Counts by V8's own coverage, which starts anew each time that it is written. */
export function watchWalk(): Walk {
  const folder = temporaryFolder('walk');
  const coverage = mkdtempSync(join(folder.path, 'coverage-'));
  const reports = () => readdirSync(coverage).filter((name) => name.endsWith('.json'));
  const empty = () => {
    for (const name of reports()) rmSync(join(coverage, name));
  };
  const take = async (pid: number) => {
    // A report of an earlier walk would be taken for the one that is asked for now.
    empty();
    process.kill(pid, 'SIGUSR2');
    await waitFor('a report of what ran', () => reports().some((name) => isWhole(join(coverage, name))));
  };
  const walk: Walk = {
    under: ['env', `NODE_V8_COVERAGE=${coverage}`, process.execPath, '--no-warnings', program],
    async begin(pid) {
      await take(pid);
      empty();
    },
    async end(pid) {
      if (pid !== undefined) await take(pid);
      return [...new Set(reports().flatMap((name) => filesIn(join(coverage, name))))].sort();
    },
    async inEach(pid, call, before) {
      let common: string[] | undefined;
      for (let count = 0; count < 3; count++) {
        await before?.();
        await walk.begin(pid);
        await call();
        const files = new Set(await walk.end(pid));
        common = (common ?? [...files]).filter((file) => files.has(file));
      }
      return common ?? [];
    },
    remove: folder.remove,
  };
  return walk;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

function isWhole(file: string): boolean {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) !== undefined;
  } catch {
    return false;
  }
}

/** What starts at the file's beginning is the file itself: that it was loaded says nothing. */
function filesIn(file: string): string[] {
  const { result } = JSON.parse(readFileSync(file, 'utf8')) as Coverage;
  return result
    .filter(({ url }) => url.startsWith(source))
    .filter(({ functions }) =>
      functions.some(({ ranges: [all] }) => all && all.startOffset > 0 && all.count > 0),
    )
    .map(({ url }) => url.slice(source.length));
}
