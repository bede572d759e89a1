import { accessSync, constants, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownMountPoints } from '../../../runtime/native/mounts.ts';
import {
  type Capability,
  hasAnyCapability,
  hasOtherCapabilities,
} from '../../../runtime/native/own-process.ts';

/*
 * What the application, which has the user of the wrapper, could put in the place of what workers load. It is asked before
 * there is an application.
 */

const mostLinks = 40;
const sticky = 0o1000;

/**
 * Whether this user may undo mounts of others: in a mount namespace of its own it takes a mount away, and can then remove or rename the
 * folder that it lay on, which takes it away everywhere. For that it needs a user namespace.
 */
export type MayUnmount = () => boolean;

/**
 * Follows a path as the kernel does, through every folder and link on its way.
 * @param path from the working directory, or absolute; not normalized, because a `..` behind a link is where the link leads; it may not exist
 * @returns the first part that this user could replace, or make where it is missing; undefined for none
 */
export function replaceablePart(path: string, mayUnmount: MayUnmount): string | undefined {
  try {
    return firstOpenPart(path, mayUnmount);
  } catch {
    // what this user may not look at is not known to be safe
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
 * Whether an entry of the folder can be replaced: in a sticky one, such as /tmp, by its owner and the folder's alone; what is mounted
 * there, by nobody who may not undo the mount.
 */
function isOpenTo(folder: string, path: string, entry: Stats | undefined, mayUnmount: MayUnmount): boolean {
  if (!isWritable(folder)) return false;
  if (entry === undefined) return true;
  if (isMountPoint(path) && !mayUnmount()) return false;
  const { mode, uid } = statSync(folder);
  return (mode & sticky) === 0 || isOwn(uid) || isOwn(entry.uid);
}

let mountPoints: ReadonlySet<string> | undefined;

/** A device of its own tells nothing: overlays of several file systems have files of several. */
function isMountPoint(path: string): boolean {
  mountPoints ??= new Set(ownMountPoints());
  return mountPoints.has(path);
}

const isOwn = (uid: number): boolean => uid === process.geteuid?.();

const known = new Map<string, boolean>();

/** Its owner may change its mode, unless the file system is mounted read-only. */
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

/** Whether files of others may be made its own. */
function mayTakeOver(): boolean {
  takesOver ??= hasAnyCapability(['chown', 'dac_override', 'fowner', 'setuid', 'setgid']);
  return takesOver;
}

/**
 * Capabilities that open no file which the user's own rights and `mayTakeOver` do not: those that container runtimes give root unasked
 * (device nodes open nothing where devices are denied, as they are there), and those about the network, scheduling and limits.
 */
const harmless: readonly Capability[] = [
  ...(['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap'] as const),
  ...(['net_bind_service', 'net_broadcast', 'net_admin', 'net_raw', 'ipc_lock', 'ipc_owner'] as const),
  ...(['sys_chroot', 'sys_nice', 'sys_resource', 'mknod', 'lease', 'audit_write', 'setfcap'] as const),
];

/** By a mount (CAP_SYS_ADMIN), a file's handle (CAP_DAC_READ_SEARCH), a device or the kernel. */
export const mayReachAnyFile = (): boolean => hasOtherCapabilities(harmless);

/** From which the loader, the C library and OpenSSL load code unasked: preloaded libraries, look-ups of names, providers. */
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
 * Whether a loader is that of the self-contained folder: with it come a C library and a Node that have names in the folder in the place
 * of the system's, most of which are not there, and that ignore what an image sets for its own.
 */
export const isSelfContained = (loader: string): boolean =>
  readFileSync(loader).includes('/svc/ld.so.preload');

export const unaskedFiles = (selfContained: boolean): readonly string[] =>
  selfContained ? ['/svc/ld.so.preload', '/svc/lib/locale'] : systemFiles;

/** Variables from which the loader, the C library, OpenSSL and Node take files, each with what separates several. */
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
 * Libraries and data that the loader looks for in many places, or maps as its user writes them, and the certificates of the system, which
 * are many files that OpenSSL and Node look for by themselves.
 */
const neverSafe = ['LD_AUDIT', 'LD_PROFILE', 'NODE_USE_SYSTEM_CA'];

/** By the folder's loader and Node, which has every library, so that it looks for none. */
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
 * A variable, or a flag of Node, by which this user could get code or certificates into a worker, though the file need not be there
 * yet.
 */
export function replaceableBySetting(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  { selfContained, mayUnmount }: { readonly selfContained: boolean; readonly mayUnmount: MayUnmount },
): string | undefined {
  const isSet = (name: string) => !(selfContained && ignoredInFolder.includes(name)) && Boolean(env[name]);
  // `$ORIGIN` and the like are the loader's to know; an empty path is the working directory
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
  // a library without a folder is looked for where LD_LIBRARY_PATH and the system say
  return name === 'LD_PRELOAD' ? paths.filter((path) => path.includes('/')) : paths;
}
