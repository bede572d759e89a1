import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AuthorityPlaces } from '../../../keyserver/settings.ts';
import { messageOf } from '../../../runtime/errors.ts';
import {
  hasAnyCapability,
  hasCapability,
  isCovered,
  isFiltered,
} from '../../../runtime/native/own-process.ts';
import { ownMemoryMap } from '../../../runtime/native/process-lock.ts';
import type { ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { runToEnd } from '../../../runtime/native/spawn.ts';
import { withStrings } from '../replace-process.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';
import { programLoader } from './program-loader.ts';
import { findInit, ownFile } from './records.ts';
import {
  isSelfContained,
  type MayUnmount,
  mayReachAnyFile,
  replaceableBySetting,
  replaceablePart,
  unaskedFiles,
} from './replaceable.ts';

/**
 * Why the wrapper stays resident: a security module may forbid executing a memfd, a sandbox may not implement what
 * makes a process unreadable, and the application, which runs as the wrapper's user, may be able to replace what
 * workers load.
 */
export function obstacleToLeaving(
  memory: ShareableMemory,
  settings: ResolvedWrapperSettings,
  authorities: AuthorityPlaces,
): string | undefined {
  try {
    const file = findInit();
    const open = openToApplication(file, memory, settings, authorities);
    if (open !== undefined) return `the application could replace ${open}, which workers load or trust`;
    return tryInit(memory).startsWorkers ? undefined : 'svc-init cannot start workers that nobody can read';
  } catch (error) {
    // a failed check must not end the start: the wrapper stays resident instead
    return messageOf(error);
  }
}

/** Whether the application could replace a certificate by which the wrapper verifies the secrets server. */
export function authoritiesAreOpen(
  memory: ShareableMemory,
  settings: ResolvedWrapperSettings,
  authorities: AuthorityPlaces,
): boolean {
  try {
    const files = trustedFiles(authorities);
    if (files.length === 0 || mayTraceAll(settings)) return false;
    return mayReachAnyFile() || openPart(files, unmounting(memory)) !== undefined;
  } catch {
    return true;
  }
}

/** An application that may trace every process gains nothing from a file, unless an agent or the kernel stops it. */
function mayTraceAll({ agentAddr, requireEnforcement }: ResolvedWrapperSettings): boolean {
  if (agentAddr !== undefined || requireEnforcement || !hasCapability('sys_ptrace')) return false;
  return !isCovered() && !isTracingForbidden();
}

function isTracingForbidden(): boolean {
  try {
    return readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'latin1').startsWith('3');
  } catch {
    return false;
  }
}

/** Files that a worker will load: those that this process has mapped or read, and those that it would prefer. */
function loadedFiles(): string[] {
  const mapped = ownMemoryMap().map(({ name }) => name);
  const script = ownFile();
  const loaded = [process.execPath, ...mapped, process.argv[1] ?? '', script].filter(existsSync);
  return [...new Set([...loaded, ...soughtBeside(script)])].filter((name) => name.startsWith('/'));
}

/** V8's code cache, a build of ffi-rs, packages: each is loaded from the script's folder if it exists. */
const soughtBeside = (script: string): string[] =>
  ['worker.cache', 'ffi-rs.node', 'package.json', 'node_modules'].map((name) => join(dirname(script), name));

/** Certificates by which the wrapper verifies the secrets server. */
function trustedFiles({ caFiles, caPath }: AuthorityPlaces): string[] {
  return [...caFiles, ...(caPath === undefined ? [] : [caPath, ...namesIn(caPath)])];
}

/** All kinds of entries: a link may lead to a certificate later. */
const namesIn = (folder: string): string[] =>
  readdirSync(folder, { encoding: 'utf8', recursive: true }).map((name) => `${folder}/${name}`);

/** The first file that the application could replace, or a setting or capability that gives access to others. */
function openToApplication(
  init: string,
  memory: ShareableMemory,
  settings: ResolvedWrapperSettings,
  authorities: AuthorityPlaces,
): string | undefined {
  const loader = programLoader(process.execPath);
  if (mayTraceAll(settings)) return undefined;
  if (mayReachAnyFile()) return 'any file (by a capability that containers do not have by default)';
  const selfContained = isSelfContained(loader);
  const files = [
    loader,
    init,
    ...loadedFiles(),
    ...unaskedFiles(selfContained),
    ...trustedFiles(authorities),
  ];
  const mayUnmount = unmounting(memory);
  const part = openPart(files, mayUnmount);
  if (part !== undefined) return part;
  const setting = replaceableBySetting(process.env, process.execArgv, { selfContained, mayUnmount });
  return setting && `files that ${setting} names`;
}

function openPart(files: readonly string[], mayUnmount: MayUnmount): string | undefined {
  for (const file of files) {
    const part = replaceablePart(file, mayUnmount);
    if (part !== undefined) return part;
  }
  return undefined;
}

/** Lazy, because the trial takes 2 ms. */
const unmounting =
  (memory: ShareableMemory): MayUnmount =>
  () => {
    try {
      // the kernel forbids it in a changed root; a process that may call chroot again can leave that root
      return tryInit(memory).makesNamespaces || (!isFiltered() && hasAnyCapability(['sys_chroot']));
    } catch {
      return true;
    }
  };

interface Trial {
  readonly startsWorkers: boolean;
  /** Whether this user may create user namespaces, which give it all rights over mounts of its own. */
  readonly makesNamespaces: boolean;
}

let tried: Trial | undefined;

/** Makes svc-init start a copy of itself as it would start a worker; the copy's exit status is the result. */
function tryInit(memory: ShareableMemory): Trial {
  tried ??= judge(statusOfTrial(memory));
  return tried;
}

function statusOfTrial(memory: ShareableMemory): number | undefined {
  const file = findInit();
  return withStrings({ file, args: [], env: [], memory }, (strings) => runToEnd({ file, ...strings }));
}

/** Any other status means that the trial could not run. */
const judge = (status: number | undefined): Trial => ({
  startsWorkers: status === 0 || status === 2,
  makesNamespaces: status !== 0 && status !== 1,
});
