import { fstatSync, statfsSync } from 'node:fs';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { type Mapping, mapFlags, mapMemory, protection } from './mapping.ts';

const secretMemoryMagic = 0x5345434d;

/**
 * Maps an inherited memfd_secret descriptor, read-only: writing to `bytes` ends the process.
 * The descriptor stays open.
 * @throws SvcError NOT_SECRET_MEMORY for any other descriptor, NativeError when the mapping is refused
 */
export function mapDescriptor(descriptor: number): Mapping {
  if (!isSecretMemory(descriptor)) throw notSecretMemory(descriptor);
  return mapMemory(fstatSync(descriptor).size, protection.read, mapFlags.shared, descriptor);
}

/** Whether the descriptor is open and of memfd_secret; the kernel's word for it, which no file's name can imitate. */
export function isSecretMemory(descriptor: number): boolean {
  if (!Number.isInteger(descriptor) || descriptor < 0) return false;
  try {
    return statfsSync(`/proc/self/fd/${descriptor}`).type === secretMemoryMagic;
  } catch {
    return false;
  }
}

function notSecretMemory(descriptor: number): SvcError {
  return new SvcError('NOT_SECRET_MEMORY', `Descriptor ${descriptor} is no secret memory`, {
    nextStep: 'Start the program under svc-wrapper, and leave SVC_SECRET_FD as the wrapper has set it.',
    exitStatus: exitStatus.system,
  });
}
