import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { withString } from '../native/c-memory.ts';
import { tryInt } from '../native/libc.ts';

/** Where the kernel offers a folder for it. */
export const bpfFileSystem = '/sys/fs/bpf';

const magic = 0xcafe4a11;
/** No set-user-id, devices or programs. */
const mountFlags = 2n | 4n | 8n;
const noData = 0n;

/** Whether a folder lies on a BPF file system. */
export function isOnBpfFileSystem(folder: string): boolean {
  try {
    return statfsSync(folder).type === magic;
  } catch {
    return false;
  }
}

/**
 * Sees to it that a BPF file system is mounted at a folder, which is made where only it is missing.
 * @returns whether it had to be mounted
 * @throws SvcError BPF_FILE_SYSTEM_UNAVAILABLE (exit 71)
 */
export function ensureBpfFileSystem(folder: string = bpfFileSystem): boolean {
  if (isOnBpfFileSystem(folder)) return false;
  try {
    // not recursive: in /proc that never ends
    if (!existsSync(folder)) mkdirSync(folder);
    mount(folder);
    return true;
  } catch (error) {
    throw unavailable(folder, error as Error);
  }
}

/**
 * Makes a folder for pins, readable by its owner only, and those above it.
 * @throws SvcError BPF_FILE_SYSTEM_UNAVAILABLE where it would be on no BPF file system; then nothing is made
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
