import { checkStatus } from '../../core/checks/contract.ts';
import { SvcError } from '../../core/errors.ts';
import { isOclifError } from './failure.ts';

/**
 * The error as such a command ends with it: what was asked for wrongly is 3, what could not be found out is 4. An
 * error that is ours stays what it is.
 */
export function asCheckError(error: Error): Error {
  if (error instanceof SvcError) return withStatus(error, statusOf(error));
  if (isOclifError(error) && (error as NodeJS.ErrnoException).code !== 'EEXIT') {
    return Object.assign(error, { oclif: { ...error.oclif, exit: checkStatus.usage } });
  }
  return error;
}

function statusOf({ code }: SvcError): number {
  return code === 'CONFIG_INVALID' ? checkStatus.usage : checkStatus.notEvaluated;
}

function withStatus(error: SvcError, exitStatus: number): SvcError {
  const { code, message, nextStep, details, cause } = error;
  return new SvcError(code, message, { nextStep, details, exitStatus, cause });
}
