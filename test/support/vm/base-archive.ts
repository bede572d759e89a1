import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheRoot } from '../../testbed/cache.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { exec } from '../../testbed/exec.ts';
import { withLock } from '../../testbed/lock.ts';
import { appendArchive, type Entry } from './cpio.ts';
import { guestFiles } from './guest.ts';
import { installedPackages } from './package-files.ts';
import type { Architecture } from './types.ts';

/** Folders that the first process mounts something on, or works in. */
const FOLDERS = ['/dev', '/mnt', '/proc', '/root', '/run', '/sys', '/tmp', '/var/lib'];
const NOT_BUSYBOX = ['busybox', 'sh', 'svc'];

/**
 * The part of the initial file system that seldom changes, as a cpio archive in the test bed's cache, under the hash of
 * its content: busybox with its commands, Node, libbpf, ffi-rs and their libraries.
 */
export async function baseArchive(architecture: Architecture): Promise<string> {
  const entries = await baseEntries(architecture);
  const archive = join(cacheRoot(), `vm-base-${hashOf(entries)}.cpio`);
  if (!existsSync(archive)) await withLock(archive, async () => write(archive, entries));
  return archive;
}

async function baseEntries(architecture: Architecture): Promise<Entry[]> {
  const { busybox, shell, node, addon, libraries } = await guestFiles[architecture]();
  return [
    ...FOLDERS.map((path) => ({ path, folder: true }) as const),
    ...(await commandsOf(busybox)),
    { path: '/bin/sh', file: shell, executable: true },
    { path: '/usr/bin/node', file: node, executable: true },
    ...libraries,
    ...installedPackages(architecture, addon),
  ];
}

/** The names are those of this machine's busybox, which is of the same release. */
async function commandsOf(busybox: string): Promise<Entry[]> {
  const { busybox: own = '' } = (await requireTool('busybox')).bins;
  const all = (await exec(own, ['--list'])).split('\n').filter(Boolean);
  const names = all.filter((name) => !NOT_BUSYBOX.includes(name));
  const links = names.map((name) => ({ path: `/bin/${name}`, link: 'busybox' }));
  return [
    { path: '/bin/busybox', file: busybox, executable: true },
    ...links,
    { path: '/usr/bin/env', link: '/bin/busybox' },
  ];
}

function hashOf(entries: readonly Entry[]): string {
  const hash = createHash('sha256');
  for (const entry of entries) {
    // not where the file lies here: another checkout has the same base
    const content = 'file' in entry ? readFileSync(entry.file) : JSON.stringify(entry);
    hash.update(`${entry.path}\0${entry.executable ?? false}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

function write(archive: string, entries: readonly Entry[]): void {
  if (existsSync(archive)) return;
  mkdirSync(cacheRoot(), { recursive: true });
  const temporary = `${archive}.tmp`;
  rmSync(temporary, { force: true });
  appendArchive(temporary, entries);
  renameSync(temporary, archive);
}
