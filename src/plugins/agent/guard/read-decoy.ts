import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Decoy } from './decoy.ts';

/** What an attempt on the decoy's environment came to. */
export type Attempt = 'read' | 'denied' | 'killed' | { readonly failed: string };

const refusals = ['EACCES', 'EPERM'];
const longestMs = 4_000;

/** Reads by this process. */
export function readDecoy({ pid, marker }: Decoy): Attempt {
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
export async function readDecoyByChild({ pid, marker }: Decoy): Promise<Attempt> {
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
