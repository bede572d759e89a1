import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { copyFailed, copyFolder } from './copy-folder.ts';
import { type FileFacts, manifestName, manifestOf } from './own-folder.ts';

/** What pods mount: a link that leads to the version of the day. */
const currentLink = 'current';

/** By content, so that each folder is either whole or not led to. */
const versionForm = /^[0-9a-f]{32}$/;
/** Beside the current one, for pods that were started with it and open a file late. */
const mostFormer = 1;
const mayBeGone = { throwIfNoEntry: false } as const;

export interface Installed {
  /** Name of the folder that the link leads to. */
  readonly version: string;
  /** Files that were not there as they should be. */
  readonly files: number;
  /** Folders of former versions that were taken away. */
  readonly removed: number;
}

/**
 * Keeps a self-contained folder on a node: copies it into a folder of its own below `to`, then has the link lead there at
 * one go. Whoever mounts the link gets one version or another and never a mixture, and what runs keeps its own.
 * @throws SvcError COPY_FAILED (exit 71)
 */
export function installFolder(from: string, to: string): Installed {
  const version = versionOf(from);
  const folder = join(to, version);
  const { files } = manifestOf(from);
  const copied = copyFolder(from, folder, (file) => isThere(join(folder, file), files[file]));
  try {
    const before = lead(to, version);
    return { version, files: copied, removed: removeFormer(to, version, before) };
  } catch (cause) {
    throw copyFailed(from, to, cause);
  }
}

function versionOf(folder: string): string {
  const manifest = readFileSync(join(folder, manifestName));
  return createHash('sha256').update(manifest).digest('hex').slice(0, 32);
}

/** A file that is in use is left alone where it is what it should be: its copy would take room a second time. */
function isThere(path: string, wanted: FileFacts | undefined): boolean {
  if (wanted === undefined) return false;
  try {
    if (statSync(path).size !== wanted.bytes) return false;
    return createHash('sha256').update(readFileSync(path)).digest('hex') === wanted.sha256;
  } catch {
    return false;
  }
}

/** Where the link led before. */
function lead(to: string, version: string): string | undefined {
  const link = join(to, currentLink);
  const before = targetOf(link);
  if (before === version) return before;
  const next = join(to, `.${currentLink}`);
  rmSync(next, { force: true });
  symlinkSync(version, next);
  renameSync(next, link);
  return before;
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

/**
 * What cannot be taken away stays: nothing depends on it. Pods run with what the link led to before, even where a copy
 * that was cut off is newer.
 */
function removeFormer(to: string, version: string, before: string | undefined): number {
  const usedAt = (name: string) =>
    name === before ? Number.POSITIVE_INFINITY : (statSync(join(to, name), mayBeGone)?.mtimeMs ?? 0);
  const former = readdirSync(to)
    .filter((name) => versionForm.test(name) && name !== version)
    .map((name) => ({ path: join(to, name), at: usedAt(name) }))
    .sort((a, b) => b.at - a.at);
  let removed = 0;
  for (const { path } of former.slice(mostFormer)) {
    try {
      rmSync(path, { recursive: true });
      removed += 1;
    } catch {}
  }
  return removed;
}
