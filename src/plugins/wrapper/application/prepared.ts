import { exitStatus, SvcError } from '../../../core/errors.ts';
import { encodedLength } from '../../../core/secret-records/entry.ts';
import { regionSize } from '../../../core/secret-records/layout.ts';
import { writeFirstGeneration } from '../../../core/secret-records/write-generation.ts';
import { argumentRoom } from '../../../runtime/native/argument-room.ts';
import { pageSize } from '../../../runtime/native/mapping.ts';
import type { Region } from '../../../runtime/native/region.ts';
import type { SecretMemory } from '../../../runtime/native/secret-memory.ts';
import { memlockLimit } from '../../../runtime/native/self.ts';
import { checkRoom } from '../delivery/check-room.ts';
import { childEnvironment } from '../delivery/child-environment.ts';
import type { Delivered } from '../delivery/delivered.ts';
import { recordsIn } from '../delivery/records-in.ts';
import type { WrapperConfig } from '../read-config.ts';
import type { Launch } from '../supervise/launch.ts';

export interface Surroundings {
  readonly config: WrapperConfig;
  readonly memory: SecretMemory;
  readonly inherited: readonly Uint8Array[];
}

/** An application with its secrets laid out, ready to be started once. */
export interface Prepared {
  readonly launch: Launch;
  /** The records that the application shares, or that its environment is made of. */
  readonly region: Region;
  /** Whether the application gets the descriptor. */
  readonly shared: boolean;
  /** Names of inherited variables that a secret takes the place of. */
  readonly replaced: readonly string[];
}

/**
 * Writes the records into a region of their own and puts the environment together.
 * @throws SvcError MEMFD_SECRET_UNAVAILABLE (exit 71) where the descriptor is the only delivery and there is none,
 * SECRETS_TOO_LARGE (exit 78) where the environment cannot hold them
 */
export function prepareApplication(delivered: readonly Delivered[], around: Surroundings): Prepared {
  const { settings, file, args } = around.config;
  const room = { spare: settings.rotation === 'sighup', lockLimit: memlockLimit().soft };
  const region = around.memory.allocate(regionSize(encodedLength(delivered), room, pageSize()));
  try {
    writeFirstGeneration(region.bytes, delivered);
    const shared = settings.delivery !== 'env' && region.descriptor !== undefined;
    if (settings.delivery === 'fd' && !shared) throw noDescriptor();
    const records = settings.delivery === 'fd' ? [] : recordsIn(region.bytes);
    const descriptor = shared ? region.descriptor : undefined;
    const { entries: env, replaced } = childEnvironment({ inherited: around.inherited, records, descriptor });
    if (records.length > 0) checkRoom(delivered, [file, ...args, ...env], argumentRoom());
    return { launch: { file, args, env, descriptor, memory: around.memory }, region, shared, replaced };
  } catch (error) {
    region.release();
    throw error;
  }
}

function noDescriptor(): SvcError {
  return new SvcError('MEMFD_SECRET_UNAVAILABLE', 'There is no memfd_secret memory for SVC_DELIVERY=fd', {
    nextStep:
      'Use a kernel with memfd_secret (Linux 5.14) and a memory-lock limit that admits it, or SVC_DELIVERY=env.',
    exitStatus: exitStatus.system,
  });
}
