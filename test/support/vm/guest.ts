import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { debianPackages } from '../../../scripts/lib/wrapper-folder/debian.mjs';
import { npmPackages } from '../../../scripts/lib/wrapper-folder/npm-packages.mjs';
import { requireTool } from '../../testbed/ensure.ts';
import { ToolUnavailable } from '../tool-unavailable.ts';
import type { Entry } from './cpio.ts';
import { inGuest, librariesOf } from './libraries.ts';
import { NATIVE_ADDON, PINNED_NODE } from './package-files.ts';
import type { Architecture } from './types.ts';

/** Files of this machine that every guest of an architecture has. */
export interface GuestFiles {
  readonly busybox: string;
  readonly shell: string;
  readonly node: string;
  /** The folder of ffi-rs's package for that architecture. */
  readonly addon: string;
  readonly libraries: readonly Entry[];
}

const TRIPLET = 'aarch64-linux-gnu';
const LOADER = 'ld-linux-aarch64.so.1';
/** What Node, ffi-rs and libbpf are linked against. */
const FOREIGN = [
  ...['libc.so.6', 'libm.so.6', 'libdl.so.2', 'libpthread.so.0', 'librt.so.1', 'libgcc_s.so.1'],
  ...['libstdc++.so.6', 'libbpf.so.1', 'libelf.so.1', 'libz.so.1'],
];

export const guestFiles: Readonly<Record<Architecture, () => Promise<GuestFiles>>> = {
  x64: ownFiles,
  arm64: async () => foreignFiles(),
};

/** This machine's own: busybox's shell takes its own commands before those of the PATH, and has one named svc. */
async function ownFiles(): Promise<GuestFiles> {
  const { busybox = '' } = (await requireTool('busybox')).bins;
  const { 'libbpf.so.1': library = '' } = (await requireTool('libbpf')).bins;
  const shell = realpathSync('/bin/sh');
  const linked = await librariesOf([busybox, shell, PINNED_NODE, NATIVE_ADDON, library]);
  const libraries: Entry[] = [{ path: inGuest(library), file: library, executable: true }, ...linked];
  return { busybox, shell, node: PINNED_NODE, addon: join(NATIVE_ADDON, '..'), libraries };
}

/** Those of arm64, from Debian's packages and npm's, none of which is installed. */
function foreignFiles(): GuestFiles {
  const { node, addon } = npmPackages('arm64');
  const folders = [armPackages('guest'), armPackages('libraries')];
  const find = (...paths: string[]) => {
    const all = folders.flatMap((folder) => paths.map((path) => join(folder, path)));
    const found = all.find((path) => existsSync(path));
    if (found === undefined) throw new Error(`No package for arm64 holds ${paths[0]}`);
    return realpathSync(found);
  };
  const library = (name: string): Entry => ({
    path: name === LOADER ? `/lib/${name}` : `/usr/lib/${TRIPLET}/${name}`,
    file: find(`lib/${TRIPLET}/${name}`, `usr/lib/${TRIPLET}/${name}`),
    executable: true,
  });
  return {
    ...{ busybox: find('bin/busybox'), shell: find('bin/dash'), node: join(node, 'bin', 'node'), addon },
    libraries: [LOADER, ...FOREIGN].map(library),
  };
}

/**
 * The folder with a group of Debian packages for arm64, extracted.
 * @throws ToolUnavailable where the machine's package sources do not have them
 */
export function armPackages(group: 'guest' | 'libraries'): string {
  try {
    const say = (text: string) => void process.stderr.write(`${text}\n`);
    return debianPackages(group, 'arm64', { frozen: false, say }).folder;
  } catch (cause) {
    throw new ToolUnavailable('packages for arm64', cause instanceof Error ? cause.message : '', { cause });
  }
}
