import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Takes the place of `bin/run.js`: runs it, or SMALL_DISK_ENTRY, in a mount namespace of its own, where SMALL_DISK holds 8 MiB. */
export const onSmallDisk = fileURLToPath(import.meta.url);
const entry = process.env.SMALL_DISK_ENTRY ?? fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const unshare = '/usr/bin/unshare';

/** Whether this machine lets us mount there. */
export function canMount(): boolean {
  try {
    execFileSync(unshare, ['-rm', '/bin/sh', '-c', 'mount -t tmpfs -o size=8m none /mnt'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const mount = 'mount -t tmpfs -o size=8m none "$SMALL_DISK" && exec "$@"';
  const command = [process.execPath, entry, ...process.argv.slice(2)];
  process.execve?.(unshare, ['unshare', '-rm', '/bin/sh', '-c', mount, 'sh', ...command]);
}
