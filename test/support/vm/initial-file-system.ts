import { constants, copyFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { baseArchive } from './base-archive.ts';
import { appendArchive, type Entry } from './cpio.ts';
import { librariesOf } from './libraries.ts';
import { builtPackage, tree } from './package-files.ts';
import { kernelModules } from './qemu.ts';
import { DEFAULT_MACHINE, MACHINES, type MachineName, type VmOptions } from './types.ts';

const INIT = fileURLToPath(new URL('./init.sh', import.meta.url));

/** Writes the archives that the kernel starts from into one file: what all machines have, then what this one has. */
export async function writeInitialFileSystem(file: string, options: VmOptions): Promise<void> {
  const entries: Entry[] = [
    { path: '/init', file: INIT, executable: true },
    { path: '/root/script.sh', content: options.script },
    { path: '/etc/passwd', content: 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' },
    { path: '/etc/group', content: 'root:x:0:\nnogroup:x:65534:\n' },
    { path: '/etc/hosts', content: '127.0.0.1 localhost\n' },
    ...builtPackage(),
    ...(await programs(options.programs ?? [])),
    ...(options.modules ? await modules(options.machine ?? DEFAULT_MACHINE) : []),
    ...Object.entries(options.files ?? {}).flatMap(([path, source]) => added(path, source)),
  ];
  const { architecture } = MACHINES[options.machine ?? DEFAULT_MACHINE];
  if (options.programs !== undefined && architecture !== process.arch)
    throw new Error(`Programs of this machine do not run on ${architecture}`);
  copyFileSync(await baseArchive(architecture), file, constants.COPYFILE_FICLONE);
  appendArchive(file, entries);
}

async function programs(paths: readonly string[]): Promise<Entry[]> {
  return [
    ...(await librariesOf(paths)),
    ...paths.map((path) => ({ path, file: path, executable: true }) as const),
  ];
}

async function modules(machine: MachineName): Promise<Entry[]> {
  const paths = await kernelModules(machine);
  return paths.map((file) => ({ path: `/lib/modules/${basename(file)}`, file }));
}

function added(path: string, source: string | Uint8Array): Entry[] {
  if (typeof source === 'string') return tree(source, path);
  const executable = Buffer.from(source.subarray(0, 2)).toString('latin1') === '#!';
  return [{ path, content: source, executable }];
}
