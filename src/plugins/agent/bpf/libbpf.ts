import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import {
  type Argument,
  type Library,
  NativeError,
  openLibrary,
  tryInt,
} from '../../../runtime/native/libc.ts';
import { withString } from '../../../runtime/native/memory.ts';

const soname = 'libbpf.so.1';
const unprinted = 0n;

let opened: Library | undefined;

/**
 * Opens libbpf 1.x on the first call, and silences its output.
 * @throws SvcError LIBBPF_UNAVAILABLE (exit 71)
 */
export function loadLibbpf(): Library {
  opened ??= open();
  return opened;
}

/** Such as `v1.1`. */
export function libbpfVersion(): string {
  const library = loadLibbpf();
  return `v${library.int('libbpf_major_version')}.${library.int('libbpf_minor_version')}`;
}

/**
 * Calls a function of libbpf that returns a negative errno on failure.
 * @param what names the subject in the error, such as a map
 * @throws NativeError
 */
export function bpfInt(what: string, name: string, ...args: readonly Argument[]): number {
  const value = loadLibbpf().int(name, ...args);
  if (value < 0) throw new NativeError(`${name} (${what})`, -value);
  return value;
}

/**
 * Calls a function of libbpf that returns NULL and sets errno on failure.
 * @throws NativeError
 */
export function bpfPointer(what: string, name: string, ...args: readonly Argument[]): bigint {
  const { value, errnoCode } = loadLibbpf().pointer(name, ...args);
  if (value === 0n) throw new NativeError(`${name} (${what})`, errnoCode);
  return value;
}

/** Calls a function of libbpf for which NULL is a regular result. */
export function bpfAddress(name: string, ...args: readonly Argument[]): bigint {
  return loadLibbpf().pointer(name, ...args).value;
}

function open(): Library {
  const library = openOrExplain();
  library.pointer('libbpf_set_print', unprinted);
  return library;
}

function openOrExplain(): Library {
  try {
    return openLibrary(soname);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('LIBBPF_UNAVAILABLE', `${soname} cannot be opened: ${(error as Error).message}`, {
      nextStep: 'Install libbpf 1.x, which Debian and Ubuntu call libbpf1.',
      exitStatus: exitStatus.system,
      cause: error,
    });
  }
}

/** The kernel's standard mount point. */
export const bpfFileSystem = '/sys/fs/bpf';

const magic = 0xcafe4a11;
/** Mount flags: no set-user-id, devices or programs. */
const mountFlags = 2n | 4n | 8n;
const noData = 0n;

/** Whether a folder is on a BPF file system. */
export function isOnBpfFileSystem(folder: string): boolean {
  try {
    return statfsSync(folder).type === magic;
  } catch {
    return false;
  }
}

/**
 * Ensures that a BPF file system is mounted at a folder; creates the folder if its parent exists.
 * @returns whether it had to be mounted
 * @throws SvcError BPF_FILE_SYSTEM_UNAVAILABLE (exit 71)
 */
export function ensureBpfFileSystem(folder: string = bpfFileSystem): boolean {
  if (isOnBpfFileSystem(folder)) return false;
  try {
    // not recursive: mkdir -p never ends in /proc
    if (!existsSync(folder)) mkdirSync(folder);
    mount(folder);
    return true;
  } catch (error) {
    throw unavailable(folder, error as Error);
  }
}

/**
 * Creates a folder for pins and its parents, readable only by the owner.
 * @throws SvcError BPF_FILE_SYSTEM_UNAVAILABLE if it would not be on a BPF file system; then nothing is created
 */
export function makeBpfFolder(folder: string): void {
  let above = folder;
  while (!existsSync(above)) above = dirname(above);
  if (!isOnBpfFileSystem(above)) throw unavailable(folder, new Error(`${above} is not on one`));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function mount(folder: string): void {
  withString('bpf', (type) =>
    withString(folder, (target) => tryInt('mount', type, target, type, mountFlags, noData)),
  );
}

function unavailable(folder: string, cause: Error): SvcError {
  return new SvcError('BPF_FILE_SYSTEM_UNAVAILABLE', `No BPF file system at ${folder}: ${cause.message}`, {
    nextStep: `Mount one on the node, and into the container: mount -t bpf bpf ${bpfFileSystem}`,
    exitStatus: exitStatus.system,
    cause,
  });
}
