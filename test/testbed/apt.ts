import { getuid } from 'node:process';
import { exec } from './exec.ts';
import { withLock } from './lock.ts';

let updated = false;

/**
 * Installs Debian packages.
 * @throws Error when this is not root on a Debian system, or apt refuses
 */
export async function aptInstall(packages: readonly string[]): Promise<void> {
  if (getuid?.() !== 0) throw new Error(`not root: as root, run apt-get install ${packages.join(' ')}`);
  await withLock('apt', async () => {
    if (!updated) await apt(['update', '-qq']);
    updated = true;
    await apt(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
  });
}

function apt(args: readonly string[]): Promise<string> {
  return exec('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
