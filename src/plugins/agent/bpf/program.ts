import { dirname } from 'node:path';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { NativeError } from '../../../runtime/native/libc.ts';
import { stringAt, withBytes, withMemory, withString } from '../../../runtime/native/memory.ts';
import { bpfAddress, bpfInt, bpfPointer, loadLibbpf, makeBpfFolder } from './libbpf.ts';

/** A program of an object. Before the object is loaded, only `name` and `section` are valid. */
export interface BpfProgram {
  readonly name: string;
  /** For example `lsm/file_open`, which determines where `attach` attaches it. */
  readonly section: string;
  /** @throws NativeError if the program is not loaded */
  readonly descriptor: number;
  /** @throws SvcError BPF_ATTACH_FAILED (exit 71), caused by a NativeError */
  attach(): BpfLink;
  /** See `testRun`. */
  run(context: Uint8Array): number;
}

/**
 * @param handle returns the address of a `struct bpf_program`, which lives as long as its object; called for each use
 */
export function programOver(handle: () => bigint): BpfProgram {
  const name = stringAt(bpfAddress('bpf_program__name', handle()));
  const section = stringAt(bpfAddress('bpf_program__section_name', handle()));
  const descriptor = () => bpfInt(name, 'bpf_program__fd', handle());
  return {
    name,
    section,
    get descriptor() {
      return descriptor();
    },
    attach: () => attach(name, section, handle()),
    run: (context) => testRun(name, descriptor(), context),
  };
}

/** The addresses of all programs of an object. */
export function* programHandles(object: bigint): Generator<bigint> {
  let handle = bpfAddress('bpf_object__next_program', object, 0n);
  while (handle !== 0n) {
    yield handle;
    handle = bpfAddress('bpf_object__next_program', object, handle);
  }
}

export function willLoad(program: bigint): boolean {
  return (loadLibbpf().int('bpf_program__autoload', program) & 1) === 1;
}

function attach(name: string, section: string, handle: bigint): BpfLink {
  try {
    return linkOver(name, bpfPointer(name, 'bpf_program__attach', handle));
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw attachFailed(name, section, error);
  }
}

function attachFailed(name: string, section: string, cause: NativeError): SvcError {
  return new SvcError(
    'BPF_ATTACH_FAILED',
    `BPF program ${name} cannot be attached to ${section}: ${cause.errnoName}`,
    {
      nextStep:
        'Check that the kernel has this hook, and that the agent may attach to it (CAP_BPF, CAP_PERFMON).',
      exitStatus: exitStatus.system,
      cause,
    },
  );
}

/** Size of `struct bpf_test_run_opts`. */
const length = 80;
const contextAt = 32;
const contextLengthAt = 48;
const returnedAt = 56;
/** Bytes for a raw tracepoint program, which has at most twelve 64-bit arguments. */
const longestContext = 96;

/**
 * Runs a loaded program once in this thread, by BPF_PROG_TEST_RUN.
 * @param context the program's input; for a raw tracepoint, its arguments as 64-bit integers
 * @returns the program's result, unsigned
 * @throws NativeError
 */
function testRun(name: string, descriptor: number, context: Uint8Array): number {
  if (context.length > longestContext) throw new RangeError(`A context has ${longestContext} bytes at most`);
  return withMemory(length, ({ address, bytes }) =>
    withBytes(context, (from) => {
      bytes.writeBigUInt64LE(BigInt(length));
      if (context.length > 0) bytes.writeBigUInt64LE(from, contextAt);
      bytes.writeUInt32LE(context.length, contextLengthAt);
      bpfInt(name, 'bpf_prog_test_run_opts', descriptor, address);
      return bytes.readUInt32LE(returnedAt);
    }),
  );
}

/** Keeps a program attached, as does a path where it is pinned. */
export interface BpfLink {
  readonly descriptor: number;
  /**
   * Keeps the program attached beyond this process. To detach it, unlink the path.
   * @throws NativeError such as EEXIST, SvcError BPF_FILE_SYSTEM_UNAVAILABLE
   */
  pin(path: string): void;
  /** Releases the handle: detaches unless the link is pinned. Repeated calls have no effect. */
  destroy(): void;
}

/** @throws NativeError ENOENT if nothing is pinned */
export function openPinnedLink(path: string): BpfLink {
  return withString(path, (address) => linkOver(path, bpfPointer(path, 'bpf_link__open', address)));
}

/** @param address of a `struct bpf_link`, owned by the result from now on */
function linkOver(name: string, address: bigint): BpfLink {
  let handle: bigint | undefined = address;
  const descriptor = loadLibbpf().int('bpf_link__fd', address);
  return {
    descriptor,
    pin(path) {
      if (handle === undefined) throw new TypeError(`The link of ${name} has been destroyed`);
      pinLink(name, handle, path);
    },
    destroy() {
      if (handle === undefined) return;
      const last = handle;
      handle = undefined;
      bpfInt(name, 'bpf_link__destroy', last);
    },
  };
}

function pinLink(name: string, handle: bigint, path: string): void {
  makeBpfFolder(dirname(path));
  const value = withString(path, (address) => loadLibbpf().int('bpf_link__pin', handle, address));
  if (value < 0) throw new NativeError(`bpf_link__pin (${name}, ${path})`, -value);
}
