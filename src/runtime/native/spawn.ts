import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus, SvcError } from '../errors.ts';
import { callInt, NativeError, tryInt } from './libc.ts';
import { withScratch, withString } from './memory.ts';

export interface Program {
  /** Path of the program; PATH is not searched. */
  readonly file: string;
  /** Addresses of data from `writeStrings`. */
  readonly argv: bigint;
  readonly env: bigint;
}

const killedBits = 0x7f;

/**
 * Runs a program that ends soon, and blocks this process until then.
 * @returns its exit status, 0 to 255; undefined if a signal ended it
 * @throws NativeError with the errno of whatever failed, including execve
 */
export function runToEnd({ file, argv, env }: Program): number | undefined {
  closeOthersOnExec();
  return withScratch(8, ({ address, bytes }) => {
    const status = address + 4n;
    const error = withString(file, (path) => callInt('posix_spawn', address, path, 0n, 0n, argv, env));
    if (error !== 0) throw new NativeError('posix_spawn', error);
    tryInt('waitpid', bytes.readInt32LE(0), status, 0);
    const ended = bytes.readInt32LE(4);
    return (ended & killedBits) === 0 ? (ended >> 8) & 0xff : undefined;
  });
}

export interface ExecuteRequest extends Program {
  /** Descriptors that stay open under the same numbers; all others are closed. */
  readonly inherit: readonly number[];
}

/**
 * Replaces this process with a program, which keeps the process id. The caller handles signals: see `resetSignals`.
 * @throws NativeError with execve's errno; descriptors are then unchanged
 */
export function execute(request: ExecuteRequest): never {
  return prepareExecution(request)();
}

/** Does the slow part of `execute`, and returns a function for the rest. */
export function prepareExecution({ file, argv, env, inherit }: ExecuteRequest): () => never {
  closeOthersOnExec();
  return () => {
    try {
      for (const descriptor of inherit) keepOnExec(descriptor, true);
      return withString(file, (path) => {
        tryInt('execve', path, argv, env);
        throw new Error('execve came back without an error');
      });
    } finally {
      for (const descriptor of inherit) keepOnExec(descriptor, false);
    }
  };
}

const setFlags = 2;
const closeOnExec = 1;
const firstAfterStandard = 3;

/** Programs started later inherit only descriptors 0, 1 and 2, whoever opened the others. */
function closeOthersOnExec(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    // one of them belonged to the directory listing and is already closed, so its failure does not matter
    if (descriptor >= firstAfterStandard) callInt('fcntl', descriptor, setFlags, closeOnExec);
  }
}

/** @throws NativeError EBADF */
function keepOnExec(descriptor: number, keep: boolean): void {
  tryInt('fcntl', descriptor, setFlags, keep ? 0 : closeOnExec);
}

/** Exit statuses of shells and container runtimes for programs that cannot be run. */
export const programStatus = {
  /** The program exists but cannot be executed. */
  notExecutable: 126,
  /** The program does not exist. */
  notFound: 127,
} as const;

/** Default of PATH. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Finds the file to execute: a name with a slash is used unchanged, others are searched for in `path`.
 * @param path directories separated by colons; an empty one is the working directory
 * @throws SvcError PROGRAM_NOT_FOUND (exit 127) or PROGRAM_NOT_EXECUTABLE (exit 126)
 */
export function findProgram(file: string, path: string = process.env['PATH'] ?? defaultPath): string {
  const candidates = file.includes('/') ? [file] : path.split(':').map((folder) => join(folder || '.', file));
  const failures = file === '' ? [] : candidates.map((candidate) => executableProblem(candidate));
  const found = failures.indexOf(undefined);
  if (found !== -1) return candidates[found] as string;
  const refused = failures.find((failure) => failure !== 'missing');
  throw refused === undefined ? notFound(file) : notExecutable(file, refused);
}

/** Undefined if the file can be executed. */
function executableProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return 'it is not a regular file';
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return missing.has(code ?? '') ? 'missing' : `it may not be executed (${code})`;
  }
}

const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']);

/** The corresponding error for a failed `execve` of an existing file. */
export function cannotExecute(file: string, cause: Error & { errnoName?: string }): SvcError {
  const { errnoName = '' } = cause;
  if (missing.has(errnoName)) return notFound(file, cause);
  if (errnoName === 'E2BIG') return tooLong(file, cause);
  const reason =
    errnoName === 'ENOEXEC' ? 'it is neither a program for this machine nor a script with #!' : '';
  return notExecutable(file, reason || cause.message, cause, scarce[errnoName]);
}

const scarce: Readonly<Record<string, string>> = {
  ENOMEM: 'Give the container more memory.',
  EAGAIN: 'Allow more processes: the pids limit of the container, or ulimit -u.',
};

function tooLong(file: string, cause: Error): SvcError {
  const what = 'arguments and environment are longer than the system takes';
  return new SvcError('ARGUMENTS_TOO_LONG', `The program ${JSON.stringify(file)} cannot be run: ${what}`, {
    nextStep: 'Give it fewer or shorter arguments and variables.',
    exitStatus: programStatus.notExecutable,
    cause,
  });
}

function notFound(file: string, cause?: Error): SvcError {
  const what = cause ? 'or the interpreter that it names, is not there' : 'is not there';
  return new SvcError('PROGRAM_NOT_FOUND', `The program ${JSON.stringify(file)}${cause ? ',' : ''} ${what}`, {
    nextStep: 'Correct the command, or PATH.',
    exitStatus: programStatus.notFound,
    cause,
  });
}

function notExecutable(
  file: string,
  reason: string,
  cause?: Error,
  nextStep = 'Make it executable (chmod +x); a script must begin with #! and its interpreter.',
): SvcError {
  return new SvcError(
    'PROGRAM_NOT_EXECUTABLE',
    `The program ${JSON.stringify(file)} cannot be run: ${reason}`,
    {
      nextStep,
      exitStatus: programStatus.notExecutable,
      cause,
    },
  );
}

/** Text is encoded as UTF-8, bytes are used unchanged. */
export type CString = string | Uint8Array;

const pointerSize = 8;

/** Bytes that `writeStrings` needs for these strings: a multiple of 8. */
export function stringsLength(strings: readonly CString[]): number {
  const text = strings.reduce((sum, string) => sum + Buffer.byteLength(string) + 1, 0);
  return Math.ceil((pointersLength(strings) + text) / pointerSize) * pointerSize;
}

/**
 * Writes a NULL-terminated array of pointers followed by the NUL-terminated strings, in the layout of `argv` and
 * `envp`, without intermediate copies.
 * @param memory the target
 * @param address address of its first byte, a multiple of 8
 * @throws SvcError NUL_IN_STRING (exit 78), which names the position and never quotes the string
 */
export function writeStrings(memory: Buffer, address: bigint, strings: readonly CString[]): void {
  let offset = pointersLength(strings);
  for (const [index, string] of strings.entries()) {
    memory.writeBigUInt64LE(address + BigInt(offset), index * pointerSize);
    const length = write(memory, offset, string);
    if (memory.subarray(offset, offset + length).includes(0)) throw nulInString(index);
    memory[offset + length] = 0;
    offset += length + 1;
  }
  memory.writeBigUInt64LE(0n, strings.length * pointerSize);
}

function pointersLength(strings: readonly CString[]): number {
  return (strings.length + 1) * pointerSize;
}

function write(memory: Buffer, offset: number, string: CString): number {
  if (typeof string === 'string') return memory.write(string, offset, 'utf8');
  memory.set(string, offset);
  return string.length;
}

function nulInString(index: number): SvcError {
  return new SvcError('NUL_IN_STRING', `Argument or variable number ${index + 1} holds a NUL byte`, {
    nextStep: 'A process cannot receive a NUL byte: remove it, or encode the value.',
    exitStatus: exitStatus.config,
  });
}

const getStatusFlags = 3;
const setStatusFlags = 4;
const nonBlocking = 0o4000;

/**
 * Makes standard input, output and error blocking, as an executed program expects: Node's streams change the mode of
 * pipes, which outlives the process.
 */
export function makeStandardBlocking(): void {
  for (const descriptor of [0, 1, 2]) {
    const flags = callInt('fcntl', descriptor, getStatusFlags);
    if (flags !== -1 && flags & nonBlocking)
      callInt('fcntl', descriptor, setStatusFlags, flags & ~nonBlocking);
  }
}
