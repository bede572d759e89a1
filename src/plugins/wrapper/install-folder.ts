import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { exitStatus, SvcError } from '../../runtime/errors.ts';

/** The link to the current version, which pods mount. */
const currentLink = 'current';

/** Folders are named by their content, so that the link never points to an incomplete one. */
const versionForm = /^[0-9a-f]{32}$/;
/** Former versions kept for pods that started with one and open a file late. */
const mostFormer = 1;
const mayBeGone = { throwIfNoEntry: false } as const;

export interface InstalledFolder {
  /** Name of the link's target. */
  readonly version: string;
  /** Number of files copied because they were missing or different. */
  readonly files: number;
  /** Number of removed folders of former versions. */
  readonly removed: number;
}

/**
 * Keeps a self-contained folder on a node: copies it into a versioned folder below `to`, then switches the link in one
 * step. A pod that mounts the link gets exactly one version, and running pods keep theirs.
 * @throws SvcError COPY_FAILED (exit 71)
 */
export function installFolder(from: string, to: string): InstalledFolder {
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

/** A file with the right content is not copied again: while it is in use, the copy would take space twice. */
function isThere(path: string, wanted: FileFacts | undefined): boolean {
  if (wanted === undefined) return false;
  try {
    if (statSync(path).size !== wanted.bytes) return false;
    return createHash('sha256').update(readFileSync(path)).digest('hex') === wanted.sha256;
  } catch {
    return false;
  }
}

/** Switches the link. @returns its previous target */
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
 * A folder that cannot be removed stays: nothing depends on its removal. The link's previous target counts as the
 * newest, because pods run with it, even if an interrupted copy is newer.
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

/** Mount point of a cluster's private authorities; it must exist because the folder is mounted read-only. */
const certificates = 'certs';
const readableForAll = 0o022;

/**
 * Copies a self-contained folder into an existing folder. Files appear whole, the manifest last, so that the next copy
 * completes an interrupted one. Sets the umask of the process.
 * @param isThere whether to skip a file
 * @returns how many files were copied
 * @throws SvcError COPY_FAILED (exit 71)
 */
export function copyFolder(
  from: string,
  to: string,
  isThere: (file: string) => boolean = () => false,
): number {
  process.umask(readableForAll);
  try {
    const files = [...Object.keys(manifestOf(from).files), manifestName].filter((file) => !isThere(file));
    for (const file of files) copyFile(join(from, file), join(to, file));
    mkdirSync(join(to, certificates), { recursive: true });
    return files.length;
  } catch (cause) {
    throw copyFailed(from, to, cause);
  }
}

function copyFailed(from: string, to: string, cause: unknown): SvcError {
  return new SvcError('COPY_FAILED', `${from} cannot be copied to ${to}`, {
    nextStep: 'Give an existing folder that can be written, on a volume with 256 MiB.',
    exitStatus: exitStatus.system,
    cause,
  });
}

function copyFile(from: string, to: string): void {
  const part = `${to}.part`;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, part);
  chmodSync(part, statSync(from).mode & 0o777);
  renameSync(part, to);
}

/** Names every other file of the folder; `scripts/lib/wrapper-folder` writes it. */
const manifestName = 'MANIFEST.json';

/**
 * The self-contained folder whose Node runs this process, `/svc` in a container.
 * @throws SvcError NOT_SELF_CONTAINED (exit 78) if another Node does
 */
export function ownFolder(program: string = process.execPath): string {
  if (isSelfContained(program)) return dirname(dirname(program));
  throw new SvcError('NOT_SELF_CONTAINED', `${program} is not the Node of a self-contained folder`, {
    nextStep:
      'Run svc-wrapper from such a folder (`npm run bundle:wrapper` makes it) or from the wrapper image.',
    exitStatus: exitStatus.config,
  });
}

export function isSelfContained(program: string = process.execPath): boolean {
  return existsSync(join(dirname(dirname(program)), manifestName));
}

interface FileFacts {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

interface Manifest {
  /** By path within the folder. */
  readonly files: Readonly<Record<string, FileFacts>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as Manifest;
}
