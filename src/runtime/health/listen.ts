import type { AddressInfo, Server } from 'node:net';
import { exitStatus, SvcError } from '../../core/errors.ts';
import { formatListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';

/**
 * Starts listening and says where, with the port that was got: `127.0.0.1:8191`, `[::]:8191`. A connection that cannot
 * be accepted afterwards, for want of descriptors or memory, is passed over.
 * @throws SvcError HEALTH_ADDRESS (exit 78) where the address cannot be had
 */
export async function listen(server: Server, at: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.on('error', (cause) => reject(refused(at, cause)));
    server.listen({ host: at.host, port: at.port }, resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return formatListenAddress({ host: address, port });
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
