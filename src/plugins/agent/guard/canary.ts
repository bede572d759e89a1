import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Decoy } from './decoy.ts';
import type { Mode } from './status.ts';

/** What the mode asks of a tier. */
export interface CanaryMode extends Mode {
  /** The tier denies: `file_open` answers an error. */
  readonly denies: boolean;
}

/** How many attempts on the decoy the programs have counted so far. */
export type CountDecoyHits = () => number;

/**
 * Tries to read the decoy and compares what happened with what the tier promises.
 * @returns what is wrong; undefined where the tier is proven
 */
export async function tryCanary(
  decoy: Decoy,
  mode: CanaryMode,
  count: CountDecoyHits,
): Promise<string | undefined> {
  const before = count();
  const wrong = judgeAttempt(readDecoy(decoy), mode.denies && mode.enforce ? 'denied' : 'read');
  if (wrong !== undefined) return wrong;
  return count() > before ? undefined : 'reading the decoy was not noticed';
}

/** The same by a reader that is to be killed. */
export async function tryDeadlyCanary(decoy: Decoy): Promise<string | undefined> {
  return judgeAttempt(await readDecoyByChild(decoy), 'killed');
}

function judgeAttempt(attempt: Attempt, wanted: Attempt): string | undefined {
  if (attempt === wanted) return undefined;
  if (typeof attempt === 'object') return `the decoy could not be read: ${attempt.failed}`;
  if (attempt === 'read') return 'a read of the decoy went through';
  return `a read of the decoy was ${attempt}`;
}

/** What an attempt on the decoy's environment came to. */
type Attempt = 'read' | 'denied' | 'killed' | { readonly failed: string };

const refusals = ['EACCES', 'EPERM'];
const longestMs = 4_000;

/** Reads by this process. */
function readDecoy({ pid, marker }: Decoy): Attempt {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    return environment.includes(marker) ? 'read' : { failed: 'its environment does not hold the marker' };
  } catch (error) {
    const { code = 'unknown', message } = error as NodeJS.ErrnoException;
    return refusals.includes(code) ? 'denied' : { failed: message };
  }
}

const reader = 'process.stdout.write(require("node:fs").readFileSync(process.argv[1], "latin1"))';

/** Reads by a process of its own, which may be killed for it. */
async function readDecoyByChild({ pid, marker }: Decoy): Promise<Attempt> {
  const child = spawn(process.execPath, ['--disable-sigusr1', '-e', reader, `/proc/${pid}/environ`], {
    env: {},
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: longestMs,
    killSignal: 'SIGTERM',
  });
  let seen = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    seen += text;
  });
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (seen.includes(marker)) return 'read';
  return signal === 'SIGKILL' ? 'killed' : { failed: `the reader ended with ${signal ?? status}` };
}
