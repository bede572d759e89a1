import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aptDownload, dependenciesOf } from '../apt.ts';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

interface KernelPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** The package that needs the newest kernel of the same kind. */
  readonly newest: string;
}

/** Debian's own. */
export const kernel = kernelRecipe({
  name: 'linux-image-6.1.0-56-cloud-amd64',
  version: '6.1.192-2',
  sha256: 'e7d02b943971edcb8790e256c02cfab3bca6c3d37c1bf25392a57c71300615ee',
  newest: 'linux-image-cloud-amd64',
});

/** The next one with long support, which Debian has built for the same release. */
export const kernel612 = kernelRecipe({
  name: 'linux-image-6.12.117+deb12-cloud-amd64',
  version: '6.12.117-1~deb12u1',
  sha256: '5195b288dec79e2981d6b84457f38b7ce7310a2d702930ec7d07209c7f78ce37',
  newest: 'linux-image-6.12-cloud-amd64',
});

/**
 * A kernel for virtual machines, to boot in QEMU: `vmlinuz`, and `release` with what `uname -r` says there.
 * What the tests need is compiled in, so its modules are left out.
 */
function kernelRecipe(wanted: KernelPackage): CachedRecipe {
  return {
    kind: 'cached',
    version: wanted.version,
    id: `${wanted.name}=${wanted.version} ${wanted.sha256}`,
    bins: { vmlinuz: 'vmlinuz', release: 'release' },
    build: (dir) => build(wanted, dir),
  };
}

async function build(wanted: KernelPackage, dir: string): Promise<void> {
  const folder = join(dir, 'package');
  await mkdir(folder);
  const file = await fetchPackage(wanted, folder);
  await exec('dpkg-deb', ['--extract', file, folder]);
  const name = (await readdir(join(folder, 'boot'))).find((entry) => entry.startsWith('vmlinuz-'));
  if (name === undefined) throw new Error(`${file} holds no kernel`);
  await rename(join(folder, 'boot', name), join(dir, 'vmlinuz'));
  await writeFile(join(dir, 'release'), name.slice('vmlinuz-'.length));
  await rm(folder, { recursive: true });
}

/** Debian drops a kernel from its archive when it has a newer one, under another name; that is then taken. */
async function fetchPackage({ newest, ...wanted }: KernelPackage, folder: string): Promise<string> {
  const { name, version, sha256 } = wanted;
  const pinned = await aptDownload(`${name}=${version}`, folder).catch(() => undefined);
  if (pinned === undefined) return fetchNewest(newest, `${name} ${version}`, folder);
  const found = createHash('sha256')
    .update(await readFile(pinned))
    .digest('hex');
  if (found !== sha256) throw new Error(`${name} ${version} is not what the recipe names: ${found}`);
  return pinned;
}

async function fetchNewest(newest: string, pinned: string, folder: string): Promise<string> {
  const name = (await dependenciesOf(newest)).find((each) => each.startsWith('linux-image-'));
  if (name === undefined) throw new Error(`${newest} names no kernel: is this a Debian system for amd64?`);
  process.stderr.write(`test bed: kernel: took ${name}, as ${pinned} is not to be had\n`);
  return aptDownload(name, folder);
}
