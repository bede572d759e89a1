import { spawnSync } from 'node:child_process';

/** Runs a command to its end; returns its standard output. Throws with the end of what it said when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26, ...options });
  if (result.status === 0) return result.stdout;
  const said = result.error?.message ?? `${result.stdout ?? ''}${result.stderr ?? ''}`.trim().slice(-1000);
  throw new Error(`${command} ${args.join(' ').slice(0, 200)} failed: ${said}`);
}
