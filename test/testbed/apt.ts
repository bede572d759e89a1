import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
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
    await update();
    await apt(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
  });
}

/**
 * Fetches a package, such as `tini` or `tini=0.19.0-1`, into a folder without installing it; returns the file.
 * @throws Error when the machine's package sources do not have it
 */
export async function aptDownload(wanted: string, folder: string): Promise<string> {
  const download = () => apt(['download', '-qq', '-o', 'APT::Sandbox::User=root', wanted], folder);
  await download().catch(() => withLock('apt', update).then(download));
  const [name = wanted] = wanted.split('=');
  const file = (await readdir(folder)).find(
    (entry) => entry.startsWith(`${name}_`) && entry.endsWith('.deb'),
  );
  if (file === undefined) throw new Error(`apt-get download left no package ${name}`);
  return join(folder, file);
}

/** Names of the packages that a package needs. */
export async function dependenciesOf(name: string): Promise<string[]> {
  const text = await exec('apt-cache', ['depends', '--no-recommends', '--no-suggests', name]);
  return [...text.matchAll(/^\s+Depends: (\S+)$/gm)].map(([, needed = '']) => needed);
}

async function update(): Promise<void> {
  if (!updated) await apt(['update', '-qq']);
  updated = true;
}

function apt(args: readonly string[], cwd?: string): Promise<string> {
  return exec('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
