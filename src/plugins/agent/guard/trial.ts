import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { readProcess } from '../../../runtime/native/processes.ts';
import { protectionFlags } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import type { Mode } from './contract.ts';
import { readTallies } from './map-readings.ts';
import type { ProgramSet } from './program-set.ts';

const mostDecoys = 8;
/** A killed process lives on for a moment, without its memory. */
const untilEndedMs = 20;

/** A canary may fail once because the machine is busy, or another BPF program runs on its processor. */
const triesOfCanary = 3;
const pauseBetweenTriesMs = 100;

/** @returns the reason of the last attempt; undefined as soon as one succeeds */
export async function tryPatiently(attempt: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const wrong = await attempt();
    if (wrong === undefined || tries === triesOfCanary) return wrong;
    await sleep(pauseBetweenTriesMs);
  }
}

/** The canary of every pass. @returns why the tier does not work; undefined if it does */
export const tryQuick = (decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> =>
  tryOnLiving(decoys, set, (decoy) => tryCanary(decoy, mode, () => readTallies(set).decoy_hits));

/** The same and, in a mode that kills readers, a canary whose reader must be killed. */
export async function tryAll(decoys: Decoys, mode: CanaryMode, set: ProgramSet): Promise<string | undefined> {
  const wrong = await tryQuick(decoys, mode, set);
  if (wrong !== undefined || mode.denies || !mode.enforce || !mode.kill) return wrong;
  return tryOnLiving(decoys, set, tryDeadlyCanary);
}

export function protectDecoy(set: ProgramSet, { pid }: Decoy): void {
  set.ask('protect', pid, protectionFlags.decoy);
}

/** Repeats with a new decoy if the old one has ended: a failure on a dead decoy says nothing about the tier. */
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

/** The mode, and how the tier enforces. */
export interface CanaryMode extends Mode {
  /** Whether the tier denies: opening the file fails. */
  readonly denies: boolean;
}

/** Number of attempts on the decoy that the programs have counted so far. */
export type CountDecoyHits = () => number;

/**
 * Tries to read the decoy and compares the result with what the tier promises.
 * @returns why the tier does not work; undefined if it is proven
 */
async function tryCanary(decoy: Decoy, mode: CanaryMode, count: CountDecoyHits): Promise<string | undefined> {
  const before = count();
  const wrong = judgeAttempt(readDecoy(decoy), mode.denies && mode.enforce ? 'denied' : 'read');
  if (wrong !== undefined) return wrong;
  return count() > before ? undefined : 'reading the decoy was not noticed';
}

/** The same by a reader that must be killed. */
async function tryDeadlyCanary(decoy: Decoy): Promise<string | undefined> {
  return judgeAttempt(await readDecoyByChild(decoy), 'killed');
}

function judgeAttempt(attempt: Attempt, wanted: Attempt): string | undefined {
  if (attempt === wanted) return undefined;
  if (typeof attempt === 'object') return `the decoy could not be read: ${attempt.failed}`;
  if (attempt === 'read') return 'a read of the decoy succeeded';
  return `a read of the decoy was ${attempt}`;
}

/** The result of an attempt on the decoy's environment. */
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

/** Reads in a child process, which may be killed for it. */
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

/** A child process with a marker in its environment, which the canary tries to read. */
interface Decoy {
  readonly pid: number;
  /** Random text in its environment that no other process should see. */
  readonly marker: string;
  readonly isAlive: boolean;
  end(): void;
}

/** Replaces decoys that have ended: others may end one at any time. */
export interface Decoys {
  /**
   * A living decoy.
   * @param onNew called with the decoy if it was newly started
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

/** Programs that wait for the end of their input, which comes when the agent ends, however it ends. */
const waiting = ['/bin/cat', '/usr/bin/cat'];

/** @throws Error if no process can be started */
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
      // a process whose end has not been reported yet is a zombie
      return child.exitCode === null && child.signalCode === null && readProcess(pid)?.state !== 'Z';
    },
    end: () => void child.kill('SIGKILL'),
  };
}
