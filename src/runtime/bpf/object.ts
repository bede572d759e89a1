import { withString } from '../native/c-memory.ts';
import { type Constants, setConstants } from './constants.ts';
import { makeBpfFolder } from './file-system.ts';
import { bpfAddress, bpfInt, loadLibbpf } from './libbpf.ts';
import { loadObject } from './load.ts';
import { type BpfMap, mapOver } from './map.ts';
import { incomplete } from './object-invalid.ts';
import { openFile } from './open-file.ts';
import { type BpfProgram, programHandles, programOver } from './program.ts';

export interface ObjectOptions {
  /** Short; the kernel shows the maps of constants and variables under it. */
  name: string;
  /**
   * On a BPF file system; made where it is missing. Maps declared with LIBBPF_PIN_BY_NAME are taken from there, or
   * made and pinned there. Without it they are the object's own.
   */
  pinFolder?: string;
  constants?: Constants;
  /** Names of programs that are not loaded. */
  leaveOut?: readonly string[];
}

/** A BPF object file in this process. Using it or its programs after `close` throws a TypeError. */
export interface BpfObject {
  /** Brings maps and programs into the kernel; this takes as long as the verifier does. @throws BpfLoadError */
  load(): void;
  programs(): BpfProgram[];
  /** @throws SvcError BPF_OBJECT_INCOMPLETE */
  program(name: string): BpfProgram;
  /** Only once it is loaded, and of use until it is closed. @throws SvcError BPF_OBJECT_INCOMPLETE, NativeError */
  map(name: string): BpfMap;
  /** Gives up everything that is neither pinned nor attached. Repeat calls are harmless. */
  close(): void;
}

/**
 * Opens an object file and prepares it for `load`; nothing is brought into the kernel yet.
 * @param file its bytes
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

/** @returns its descriptor */
function findMap(name: string, object: bigint, wanted: string): number {
  const found = withString(wanted, (text) => bpfAddress('bpf_object__find_map_by_name', object, text));
  if (found === 0n) throw incomplete(name, `map ${wanted}`);
  return bpfInt(wanted, 'bpf_map__fd', found);
}
