import { exitStatus, SvcError } from '../../core/errors.ts';
import type { NativeError } from '../native/native-error.ts';

const nextStep =
  'Use the objects of the same release as the agent: reinstall the package, or run npm run build.';

/** An object without something that is asked for by name. */
export function incomplete(name: string, what: string): SvcError {
  return new SvcError('BPF_OBJECT_INCOMPLETE', `The BPF object ${name} has no ${what}`, {
    nextStep,
    exitStatus: exitStatus.internal,
  });
}

/** A file that libbpf cannot read. */
export function invalid(name: string, cause: NativeError): SvcError {
  return new SvcError('BPF_OBJECT_INVALID', `The BPF object ${name} cannot be read: ${cause.errnoName}`, {
    nextStep,
    exitStatus: exitStatus.internal,
    cause,
  });
}
