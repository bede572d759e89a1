import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { protectionFlags } from '../../../core/protection/bpf-layouts.ts';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { readProcess } from '../../../runtime/native/processes.ts';
import type { Mode } from './contract.ts';
import { readTallies } from './map-readings.ts';
import type { ProgramSet } from './program-set.ts';

const mostDecoys = 8;
/** A killed process lives on for a moment, without its memory. */
const untilEndedMs = 20;

/** A canary that fails once may have met a busy machine, or another program of BPF at work on its processor. */
const triesOfCanary = 3;
const pauseBetweenTriesMs = 100;

/** @returns what the last attempt says is wrong; undefined as soon as one says nothing */
export async function tryPatiently(attempt: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const wrong = await attempt();
    if (wrong === undefined || tries === triesOfCanary) return wrong;
    await sleep(pauseBetweenTriesMs);
  }
}

/** The canary of each beat. @returns what is wrong */
export const tryQuick = (decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> =>
  tryOnLiving(decoys, set, (decoy) => tryCanary(decoy, mode, () => readTallies(set).decoy_hits));

/** The same, and where readers are to be killed, one that is. */
export async function tryAll(decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> {
  const wrong = await tryQuick(decoys, mode, set);
  if (wrong !== undefined || mode.denies || !mode.enforce || !mode.kill) return wrong;
  return tryOnLiving(decoys, set, tryDeadlyCanary);
}

export function protectDecoy(set: ProgramSet, { pid }: Decoy): void {
  set.ask('protect', pid, protectionFlags.decoy);
}

/** What fails on a decoy that somebody has ended meanwhile says nothing of the tier. */
async function tryOnLiving(
  decoys: Decoys,
  set: ProgramSet,
  attempt: (decoy: Decoy) => Promise<string | undefined>,
): Promise<string | undefined> {
  let wrong: string | undefined;
  for (let tries = 0; tries < mostDecoys; tries += 1) {
    const decoy = await decoys.living((fresh) => protectDecoy(set, fresh));
    wrong = await attempt(decoy);
    if (wrong === undefined) return undefined;
    await sleep(untilEndedMs);
    if (decoy.isAlive) return wrong;
  }
  return wrong;
}

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
async function tryCanary(decoy: Decoy, mode: CanaryMode, count: CountDecoyHits): Promise<string | undefined> {
  const before = count();
  const wrong = judgeAttempt(readDecoy(decoy), mode.denies && mode.enforce ? 'denied' : 'read');
  if (wrong !== undefined) return wrong;
  return count() > before ? undefined : 'reading the decoy was not noticed';
}

/** The same by a reader that is to be killed. */
async function tryDeadlyCanary(decoy: Decoy): Promise<string | undefined> {
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

/** A process of the agent's own with something in its environment, which the canary tries to read. */
interface Decoy {
  readonly pid: number;
  /** What its environment holds and nobody else should see. */
  readonly marker: string;
  readonly isAlive: boolean;
  end(): void;
}

/** One after the other: others may end a decoy at any time. */
export interface Decoys {
  /**
   * One that lives.
   * @param onNew is called with it where it was started for that
   */
  living(onNew?: (decoy: Decoy) => void): Promise<Decoy>;
  end(): void;
}

export function createDecoys(): Decoys {
  let decoy: Decoy | undefined;
  return {
    async living(onNew = () => {}) {
      if (decoy?.isAlive) return decoy;
      decoy = await startDecoy();
      onNew(decoy);
      return decoy;
    },
    end: () => decoy?.end(),
  };
}

/** Waits for the end of its input, which comes when the agent ends, however it ends. */
const waiting = ['/bin/cat', '/usr/bin/cat'];

/** @throws Error where nothing can be started */
async function startDecoy(): Promise<Decoy> {
  const marker = randomBytes(16).toString('hex');
  const cat = waiting.find((path) => existsSync(path));
  const [file, args] =
    cat === undefined
      ? [process.execPath, ['--disable-sigusr1', '-e', 'process.stdin.resume()']]
      : [cat, [] as string[]];
  const child = spawn(file, args, { env: { SVC_DECOY: marker }, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin?.on('error', () => {});
  await once(child, 'spawn');
  return decoyOf(child, marker);
}

function decoyOf(child: ChildProcess, marker: string): Decoy {
  const pid = child.pid as number;
  return {
    pid,
    marker,
    get isAlive() {
      // an end that this process has not been told of yet leaves a zombie
      return child.exitCode === null && child.signalCode === null && readProcess(pid)?.state !== 'Z';
    },
    end: () => void child.kill('SIGKILL'),
  };
}
