import { callInt, NativeError } from '../../../runtime/native/libc.ts';
import {
  copyAt,
  mapFlags,
  mapMemory,
  protection,
  withBytes,
  withMemory,
  withString,
} from '../../../runtime/native/memory.ts';
import { type Constants, incomplete, invalid, setConstants } from './constants.ts';
import { explainLoadFailure, mapHandles, pinPath } from './explain.ts';
import { bpfAddress, bpfInt, bpfPointer, loadLibbpf, makeBpfFolder } from './libbpf.ts';
import { type BpfMap, mapOver } from './map.ts';
import { type BpfProgram, programHandles, programOver, willLoad } from './program.ts';

export interface ObjectOptions {
  /** Short; the kernel uses it for the maps of constants and variables. */
  name: string;
  /**
   * Folder on a BPF file system, created if missing. Maps declared with LIBBPF_PIN_BY_NAME are reused from there, or
   * created and pinned there; without a folder they belong to the object.
   */
  pinFolder?: string;
  constants?: Constants;
  /** Names of programs not to load. */
  leaveOut?: readonly string[];
}

/** A BPF object file in this process. After `close`, using the object or its programs throws a TypeError. */
export interface BpfObject {
  /** Loads maps and programs into the kernel, which takes as long as the verifier does. @throws BpfLoadError */
  load(): void;
  programs(): BpfProgram[];
  /** @throws SvcError BPF_OBJECT_INCOMPLETE */
  program(name: string): BpfProgram;
  /** Valid from `load` to `close`. @throws SvcError BPF_OBJECT_INCOMPLETE, NativeError */
  map(name: string): BpfMap;
  /** Releases everything neither pinned nor attached. Repeated calls have no effect. */
  close(): void;
}

/**
 * Opens an object file and prepares it for `load`; loads nothing into the kernel yet.
 * @param file content of the file
 * @throws SvcError BPF_OBJECT_INVALID, BPF_OBJECT_INCOMPLETE, BPF_FILE_SYSTEM_UNAVAILABLE
 */
export function openObject(file: Uint8Array, options: ObjectOptions): BpfObject {
  const { name, pinFolder, constants, leaveOut = [] } = options;
  if (pinFolder !== undefined) makeBpfFolder(pinFolder);
  const opened = openFile(file, name, pinFolder);
  const object = objectOver(name, opened);
  try {
    if (constants !== undefined) setConstants(name, opened, constants);
    for (const program of leaveOut) switchOff(name, opened, program);
    return object;
  } catch (error) {
    object.close();
    throw error;
  }
}

function objectOver(name: string, opened: bigint): BpfObject {
  let handle: bigint | undefined = opened;
  const object = () => {
    if (handle === undefined) throw new TypeError(`The BPF object ${name} has been closed`);
    return handle;
  };
  const program = (address: bigint) => programOver(() => object() && address);
  return {
    load: () => loadObject(name, object()),
    programs: () => [...programHandles(object())].map(program),
    program: (wanted) => program(findProgram(name, object(), wanted)),
    map: (wanted) => mapOver(wanted, findMap(name, object(), wanted)),
    close() {
      if (handle !== undefined) loadLibbpf().pointer('bpf_object__close', handle);
      handle = undefined;
    },
  };
}

function switchOff(name: string, object: bigint, program: string): void {
  bpfInt(program, 'bpf_program__set_autoload', findProgram(name, object, program), 0);
}

function findProgram(name: string, object: bigint, wanted: string): bigint {
  const found = withString(wanted, (text) => bpfAddress('bpf_object__find_program_by_name', object, text));
  if (found === 0n) throw incomplete(name, `program ${wanted}`);
  return found;
}

/** @returns the map's descriptor */
function findMap(name: string, object: bigint, wanted: string): number {
  const found = withString(wanted, (text) => bpfAddress('bpf_object__find_map_by_name', object, text));
  if (found === 0n) throw incomplete(name, `map ${wanted}`);
  return bpfInt(wanted, 'bpf_map__fd', found);
}

/** @throws BpfLoadError */
function loadObject(name: string, object: bigint): void {
  const programs = [...programHandles(object)].filter(willLoad);
  const logs = programLogs(programs);
  try {
    bpfInt(name, 'bpf_object__load', object);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw explainLoadFailure({ name, object, programs, said: logs.said(), cause: error });
  } finally {
    logs.release();
  }
}

/** Bytes of `struct bpf_object_open_opts` up to the folder; libbpf treats the rest as zero. */
const length = 32;
const nameAt = 8;
const folderAt = 24;

const nowhere = 0n;

/**
 * @returns the address of a `struct bpf_object`
 * @throws SvcError BPF_OBJECT_INVALID
 */
function openFile(file: Uint8Array, name: string, pinFolder: string | undefined): bigint {
  if (pinFolder !== undefined) return withString(pinFolder, (folder) => open(file, name, folder));
  const object = open(file, name, nowhere);
  // without a folder, libbpf would pin below /sys/fs/bpf
  for (const map of mapHandles(object)) {
    if (pinPath(map) !== undefined) bpfInt(name, 'bpf_map__set_pin_path', map, nowhere);
  }
  return object;
}

function open(file: Uint8Array, name: string, folder: bigint): bigint {
  try {
    return withBytes(file, (bytes) =>
      withOptions(name, folder, (options) =>
        bpfPointer(name, 'bpf_object__open_mem', bytes, BigInt(file.length), options),
      ),
    );
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw invalid(name, error);
  }
}

function withOptions(name: string, folder: bigint, use: (options: bigint) => bigint): bigint {
  return withString(name, (text) =>
    withMemory(length, ({ address, bytes }) => {
      bytes.writeBigUInt64LE(BigInt(length));
      bytes.writeBigUInt64LE(text, nameAt);
      bytes.writeBigUInt64LE(folder, folderAt);
      return use(address);
    }),
  );
}

/** Bytes; kernels before 6.4 fail with ENOSPC if the log does not fit. Unwritten pages take no memory. */
const room = 8 << 20;
/** Bytes to read, since the reason is at the end. */
const tail = 16 << 10;

export interface ProgramLogs {
  /** The kernel's messages about programs, in the order of the handles, without programs that have none. */
  said(): { index: number; lines: string[] }[];
  release(): void;
}

/** Gives each program its own buffer for the kernel's message in case of rejection. */
function programLogs(handles: readonly bigint[]): ProgramLogs {
  const memory = mapMemory(room * handles.length, protection.readWrite, mapFlags.privateAnonymous);
  const at = (index: number) => memory.address + BigInt(index * room);
  for (const [index, handle] of handles.entries()) {
    bpfInt('log', 'bpf_program__set_log_buf', handle, at(index), BigInt(room));
  }
  return {
    said: () =>
      handles
        .map((_, index) => ({ index, lines: reasonLines(lastOf(at(index))) }))
        .filter(({ lines }) => lines.length > 0),
    release: () => memory.unmap(),
  };
}

function lastOf(address: bigint): string {
  const length = callInt('strlen', address);
  const shown = Math.min(length, tail);
  return shown === 0 ? '' : copyAt(address + BigInt(length - shown), shown).toString();
}

const mostLines = 8;
const longestLine = 240;

/** Statistics and register states after the reason. */
const noise = /^(processed \d+ insns|verification time|stack depth|max_states|peak_states|mark_read|\s*$)/;

/**
 * The last lines of the verifier's log, which contain the reason, without statistics.
 * @param log as left by the kernel, up to a NUL
 */
export function reasonLines(log: string): string[] {
  return log
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => !noise.test(line))
    .slice(-mostLines)
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
}
