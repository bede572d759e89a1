import type { Server } from 'node:net';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { formatListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';
import { listenAt } from '../net/listen-at.ts';

/**
 * Starts listening and says where, with the port that was got.
 * @throws SvcError HEALTH_ADDRESS (exit 78) where the address cannot be had
 */
export function listen(server: Server, at: ListenAddress): Promise<string> {
  return listenAt(server, at, (cause) => refused(at, cause));
}

function refused(at: ListenAddress, cause: NodeJS.ErrnoException): SvcError {
  const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.code})`;
  return new SvcError('HEALTH_ADDRESS', `The health address ${formatListenAddress(at)} ${why}`, {
    nextStep:
      'Give another address for health and metrics; port 0 takes a free one, an empty address turns them off.',
    exitStatus: exitStatus.config,
    cause,
  });
}
