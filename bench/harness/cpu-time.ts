import { spawnSync } from 'node:child_process';

export interface Cost {
  /** User and system time of the process and its children, in ms. */
  readonly cpu: number;
  readonly wall: number;
}

const TIMED = 'TIMEFORMAT="%R %U %S"; time "$@" >/dev/null 2>/dev/null';

/** What one run of Node with these arguments costs, by bash's `time`, which counts in ms; throws when the run fails. */
export function measureNode(args: readonly string[]): Cost {
  const { status, stderr } = spawnSync('bash', ['-c', TIMED, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
  });
  const [wall = Number.NaN, user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number);
  if (status !== 0 || Number.isNaN(wall + user + system)) {
    throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
  }
  return { cpu: (user + system) * 1000, wall: wall * 1000 };
}
