import { getSystemErrorMap } from 'node:util';
import { exitStatus, SvcError } from '../../core/errors.ts';

/** A C call that failed. `errno` is positive, `errnoName` such as `EPERM`. */
export class NativeError extends SvcError {
  readonly call: string;
  readonly errno: number;
  readonly errnoName: string;

  constructor(call: string, errno: number, nextStep = 'Check what the kernel and the container permit.') {
    const [name, text] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, 'unknown error'];
    super('NATIVE_CALL_FAILED', `${call}: ${text} (${name})`, { nextStep, exitStatus: exitStatus.system });
    this.call = call;
    this.errno = errno;
    this.errnoName = name;
  }
}
