import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { exitStatus, SvcError } from '../../core/errors.ts';

/** A C call that failed. `errno` is positive, `errnoName` such as `EPERM`. */
export class NativeError extends SvcError {
  readonly call: string;
  readonly errno: number;
  readonly errnoName: string;

  constructor(call: string, errno: number, nextStep = 'Check what the kernel and the container permit.') {
    const [name, text] = getSystemErrorMap().get(-errno) ?? [errnoName(errno), ''];
    super('NATIVE_CALL_FAILED', `${call}: ${text ? `${text} (${name})` : name}`, {
      nextStep,
      exitStatus: exitStatus.system,
    });
    this.call = call;
    this.errno = errno;
    this.errnoName = name;
  }
}

/** For the numbers that libuv does not know, such as ECHILD. */
function errnoName(errno: number): string {
  const known = Object.entries(constants.errno).find(([, number]) => number === errno);
  return known?.[0] ?? `errno ${errno}`;
}
