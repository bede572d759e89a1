import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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

/** Paths below a release's folder of modules; a compressed one is kept as it is. */
const MODULES = ['kernel/fs/binfmt_misc.ko', 'kernel/fs/overlayfs/overlay.ko'];

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
 * A kernel for virtual machines, to boot in QEMU: `vmlinuz`, `release` with what `uname -r` says there, and in `modules`
 * those few that tests need and that are not compiled in.
 */
function kernelRecipe(wanted: KernelPackage): CachedRecipe {
  return {
    kind: 'cached',
    version: wanted.version,
    id: `${wanted.name}=${wanted.version} ${wanted.sha256} ${MODULES.join()}`,
    bins: { vmlinuz: 'vmlinuz', release: 'release', modules: 'modules' },
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
  const release = name.slice('vmlinuz-'.length);
  await writeFile(join(dir, 'release'), release);
  await mkdir(join(dir, 'modules'));
  for (const path of modulesOf(folder, release)) await rename(path, join(dir, 'modules', basename(path)));
  await rm(folder, { recursive: true });
}

/** The paths of the modules that tests need, in an extracted package of a kernel. */
export function modulesOf(folder: string, release: string): string[] {
  const root = join(folder, 'lib', 'modules', release);
  return MODULES.map((name) => {
    const path = [name, `${name}.xz`].map((each) => join(root, each)).find((each) => existsSync(each));
    if (path === undefined) throw new Error(`${root} holds no ${name}`);
    return path;
  });
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
