import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface Family {
  readonly pid: number;
  /** Of all generations. */
  readonly descendants: readonly number[];
  /** Ends the first, and waits until it has been reaped. */
  endFirst(): Promise<void>;
  end(): Promise<void>;
}

/** Two children that stay, the second with a child of its own, and so on. */
const program = `
  echo $$
  sleep 120 <&- >&- & echo $!
  if [ "$1" -gt 0 ]; then sh -c "$0" "$0" "$(($1 - 1))" & fi
  wait`;

/** A process with two descendants for each generation but the last, which has one. */
export async function startFamily(generations: number): Promise<Family> {
  const args = ['-c', program, program, String(generations - 1)];
  const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const pids = await linesOf(child, 2 * generations);
  const [pid = 0, ...descendants] = pids;
  const endFirst = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return {
    ...{ pid, descendants, endFirst },
    async end() {
      await endFirst();
      for (const descendant of descendants) endIfThere(descendant);
    },
  };
}

async function linesOf(child: ChildProcess, count: number): Promise<number[]> {
  const pids: number[] = [];
  if (child.stdout === null) throw new Error('a family without a voice');
  for await (const line of createInterface(child.stdout)) {
    pids.push(Number(line));
    if (pids.length === count) break;
  }
  return pids;
}

function endIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
