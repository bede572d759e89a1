import { closeOthersOnExec, keepOnExec } from './descriptors.ts';
import { tryInt } from './libc.ts';
import { withScratch } from './scratch.ts';

export interface ExecuteRequest {
  /** The file; PATH is not searched. */
  readonly file: string;
  /** Addresses of what `writeStrings` wrote. */
  readonly argv: bigint;
  readonly env: bigint;
  /** Descriptors that stay open, under the same numbers; all others are closed. */
  readonly inherit: readonly number[];
}

/**
 * Replaces this process by a program, which keeps its id. Signals are the caller's: see `resetSignals`.
 * @throws NativeError with execve's errno; descriptors are as they were then
 */
export function execute(request: ExecuteRequest): never {
  closeOthersOnExec();
  try {
    for (const descriptor of request.inherit) keepOnExec(descriptor, true);
    return executeNow(request);
  } finally {
    for (const descriptor of request.inherit) keepOnExec(descriptor, false);
  }
}

function executeNow(request: ExecuteRequest): never {
  const path = Buffer.from(`${request.file}\0`);
  return withScratch(path.length, ({ address, bytes }) => {
    bytes.set(path);
    tryInt('execve', address, request.argv, request.env);
    throw new Error('execve came back without an error');
  });
}
