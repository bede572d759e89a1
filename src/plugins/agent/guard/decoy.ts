import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readProcess } from '../../../runtime/native/process-table.ts';

/** A process of the agent's own with something in its environment, which the canary tries to read. */
export interface Decoy {
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
