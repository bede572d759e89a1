import { accessSync, constants, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownMountPoints } from '../../../runtime/native/mounts.ts';
import {
  type Capability,
  hasAnyCapability,
  hasOtherCapabilities,
} from '../../../runtime/native/own-process.ts';

/*
 * Whether the application, which runs as the wrapper's user, could replace files that workers load. Checked before the
 * application starts.
 */

const mostLinks = 40;
const sticky = 0o1000;

/**
 * Whether this user may undo mounts of others: it unmounts in a mount namespace of its own (for which it needs a user
 * namespace) and then removes or renames the folder below, which undoes the mount everywhere.
 */
export type MayUnmount = () => boolean;

/**
 * Follows a path as the kernel does, through every folder and link on the way.
 * @param path absolute or relative to the working directory; need not exist; not normalized, because a `..` after a
 * link is the parent of the link's target
 * @returns the first part that this user could replace, or create if it is missing; undefined if there is none
 */
export function replaceablePart(path: string, mayUnmount: MayUnmount): string | undefined {
  try {
    return firstOpenPart(path, mayUnmount);
  } catch {
    // a path that this user cannot inspect is not known to be safe
    return path;
  }
}

function firstOpenPart(path: string, mayUnmount: MayUnmount): string | undefined {
  const parts = split(path.startsWith('/') ? path : `${process.cwd()}/${path}`);
  let folder = '/';
  let links = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '..') {
      folder = dirname(folder);
      continue;
    }
    const entry = join(folder, part);
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    if (isOpenTo(folder, entry, stats, mayUnmount)) return entry;
    if (stats === undefined) return undefined;
    if (!stats.isSymbolicLink()) {
      folder = entry;
      continue;
    }
    if (++links > mostLinks) return entry;
    const target = readlinkSync(entry);
    parts.unshift(...split(target));
    if (target.startsWith('/')) folder = '/';
  }
  return isWritable(folder) ? folder : undefined;
}

const split = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');

/**
 * Whether this user can replace an entry of the folder. In a sticky folder such as /tmp only the owners of entry and
 * folder can; a mount point can be replaced only by a user that may undo the mount.
 */
function isOpenTo(folder: string, path: string, entry: Stats | undefined, mayUnmount: MayUnmount): boolean {
  if (!isWritable(folder)) return false;
  if (entry === undefined) return true;
  if (isMountPoint(path) && !mayUnmount()) return false;
  const { mode, uid } = statSync(folder);
  return (mode & sticky) === 0 || isOwn(uid) || isOwn(entry.uid);
}

let mountPoints: ReadonlySet<string> | undefined;

/** Comparing device numbers would not do: in an overlay over several file systems, files have different ones. */
function isMountPoint(path: string): boolean {
  mountPoints ??= new Set(ownMountPoints());
  return mountPoints.has(path);
}

const isOwn = (uid: number): boolean => uid === process.geteuid?.();

const known = new Map<string, boolean>();

/** The owner counts as a writer, who may change the mode unless the file system is mounted read-only. */
function isWritable(path: string): boolean {
  const before = known.get(path);
  if (before !== undefined) return before;
  const writable = mayWrite(path);
  known.set(path, writable);
  return writable;
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' && (isOwn(statSync(path).uid) || mayTakeOver());
  }
}

let takesOver: boolean | undefined;

/** Whether this user may take ownership of others' files, or bypass it. */
function mayTakeOver(): boolean {
  takesOver ??= hasAnyCapability(['chown', 'dac_override', 'fowner', 'setuid', 'setgid']);
  return takesOver;
}

/**
 * Capabilities that open no file beyond the user's own rights and `mayTakeOver`: those that container runtimes give
 * root by default (a device node opens nothing there, because devices are denied), and those for network, scheduling
 * and limits.
 */
const harmless: readonly Capability[] = [
  ...(['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap'] as const),
  ...(['net_bind_service', 'net_broadcast', 'net_admin', 'net_raw', 'ipc_lock', 'ipc_owner'] as const),
  ...(['sys_chroot', 'sys_nice', 'sys_resource', 'mknod', 'lease', 'audit_write', 'setfcap'] as const),
];

/** Through a mount (CAP_SYS_ADMIN), a file handle (CAP_DAC_READ_SEARCH), a device or the kernel. */
export const mayReachAnyFile = (): boolean => hasOtherCapabilities(harmless);

/** From these, loader, C library and OpenSSL load code by default: preloaded libraries, name services, providers. */
const systemFiles = [
  '/etc/ld.so.preload',
  '/etc/ld.so.cache',
  '/etc/nsswitch.conf',
  '/etc/ssl/openssl.cnf',
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
];

/**
 * Whether a loader belongs to the self-contained folder. Its C library and Node look for files in the folder instead of
 * the system's paths (most of them do not exist there), and ignore variables that an image sets for its own programs.
 */
export const isSelfContained = (loader: string): boolean =>
  readFileSync(loader).includes('/svc/ld.so.preload');

export const unaskedFiles = (selfContained: boolean): readonly string[] =>
  selfContained ? ['/svc/ld.so.preload', '/svc/lib/locale'] : systemFiles;

/** Variables that name files for loader, C library, OpenSSL and Node, each with its list separator. */
const fileVariables: Readonly<Record<string, RegExp | undefined>> = {
  LD_LIBRARY_PATH: /[:;]/,
  LD_PRELOAD: /[: ]/,
  GCONV_PATH: /:/,
  LOCPATH: /:/,
  NODE_PATH: /:/,
  NODE_COMPILE_CACHE: undefined,
  NODE_EXTRA_CA_CERTS: undefined,
  NODE_ICU_DATA: /:/,
  ICU_TIMEZONE_FILES_DIR: undefined,
  OPENSSL_CONF: undefined,
  OPENSSL_ENGINES: undefined,
  OPENSSL_MODULES: undefined,
};

/**
 * LD_AUDIT is searched for in many places, the loader maps the data of LD_PROFILE while the user may write them, and
 * the system's certificates are many files that OpenSSL and Node find by themselves.
 */
const neverSafe = ['LD_AUDIT', 'LD_PROFILE', 'NODE_USE_SYSTEM_CA'];

/** Ignored by the folder's loader and Node: Node is linked with every library and searches for none. */
const ignoredInFolder = [
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'OPENSSL_CONF',
];

const flagsOfFiles =
  /^(-r|--require|--import|--loader|--experimental-loader|--env-file|--icu-data-dir|--openssl-config|--use-openssl-ca|--use-system-ca|--snapshot-blob)/;

/**
 * A variable or Node flag by which this user could get code or certificates into a worker, even if the file does not
 * exist yet.
 */
export function replaceableBySetting(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  { selfContained, mayUnmount }: { readonly selfContained: boolean; readonly mayUnmount: MayUnmount },
): string | undefined {
  const isSet = (name: string) => !(selfContained && ignoredInFolder.includes(name)) && Boolean(env[name]);
  // only the loader knows what `$ORIGIN` and the like expand to; an empty path is the working directory
  const isOpen = (path: string) => path.includes('$') || replaceablePart(path, mayUnmount) !== undefined;
  return (
    neverSafe.find(isSet) ??
    Object.keys(fileVariables).find((name) => isSet(name) && pathsIn(name, env[name]).some(isOpen)) ??
    flags.find((flag) => flagsOfFiles.test(flag))
  );
}

function pathsIn(name: string, value = ''): string[] {
  if (value === '') return [];
  const separator = fileVariables[name];
  const paths = separator === undefined ? [value] : value.split(separator);
  // a library without a folder is searched for in LD_LIBRARY_PATH and the system's folders
  return name === 'LD_PRELOAD' ? paths.filter((path) => path.includes('/')) : paths;
}
