import { accessSync, constants, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { hasCapability } from '../../../runtime/native/own-process.ts';

/*
 * What the application, which has the user of the wrapper, could put in the place of what workers load. It is asked before
 * there is an application.
 */

const mostLinks = 40;
const sticky = 0o1000;

/**
 * Follows a path as the kernel does, through every folder and link on its way.
 * @param path absolute; it may not exist
 * @returns the first part that this user could replace, or make where it is missing; undefined for none
 */
export function replaceablePart(path: string): string | undefined {
  const parts = split(path);
  let folder = '/';
  let links = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '..') {
      folder = dirname(folder);
      continue;
    }
    const entry = join(folder, part);
    const stats = lstatSync(entry, { throwIfNoEntry: false });
    if (isOpenTo(folder, stats)) return entry;
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
 * there, by nobody who may not mount.
 */
function isOpenTo(folder: string, entry: Stats | undefined): boolean {
  if (!isWritable(folder)) return false;
  if (entry === undefined) return true;
  const { mode, uid, dev } = statSync(folder);
  if (entry.dev !== dev) return false;
  return (mode & sticky) === 0 || isOwn(uid) || isOwn(entry.uid);
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
  takesOver ??= (['chown', 'fowner', 'setuid'] as const).some(hasCapability);
  return takesOver;
}

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
  LD_AUDIT: /:/,
  GCONV_PATH: /:/,
  LOCPATH: /:/,
  NODE_PATH: /:/,
  NODE_COMPILE_CACHE: undefined,
  NODE_EXTRA_CA_CERTS: undefined,
  NODE_ICU_DATA: undefined,
  OPENSSL_CONF: undefined,
  OPENSSL_ENGINES: undefined,
  OPENSSL_MODULES: undefined,
  SSL_CERT_DIR: /:/,
  SSL_CERT_FILE: undefined,
};

/** Of the folder's loader and Node; it has every library, so that it looks for none. */
const ignoredInFolder = new Set(['LD_LIBRARY_PATH', 'LD_PRELOAD', 'NODE_EXTRA_CA_CERTS', 'OPENSSL_CONF']);

const flagsOfFiles =
  /^(-r|--require|--import|--loader|--experimental-loader|--env-file|--icu-data-dir|--openssl-config|--use-openssl-ca|--snapshot-blob)/;

/**
 * A variable, or a flag of Node, by which this user could get code or certificates into a worker, though the file need not be there
 * yet.
 */
export function replaceableBySetting(
  env: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
  selfContained: boolean,
): string | undefined {
  const counts = (name: string) => !(selfContained && ignoredInFolder.has(name));
  return (
    Object.keys(fileVariables).find((name) => counts(name) && pathsIn(name, env[name]).some(isOpenPath)) ??
    flags.find((flag) => flagsOfFiles.test(flag))
  );
}

function pathsIn(name: string, value = ''): string[] {
  if (value === '') return [];
  const separator = fileVariables[name];
  const paths = separator === undefined ? [value] : value.split(separator);
  // a library without a folder is looked for where LD_LIBRARY_PATH and the system say
  return name === 'LD_PRELOAD' || name === 'LD_AUDIT' ? paths.filter((path) => path.includes('/')) : paths;
}

/** `$ORIGIN` and the like are the loader's to know; an empty path is the working directory. */
const isOpenPath = (path: string): boolean =>
  path.includes('$') || replaceablePart(resolve(path)) !== undefined;
