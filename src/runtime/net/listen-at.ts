import type { AddressInfo, Server } from 'node:net';
import { formatListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';

/** As Node has it: connections that wait to be accepted. */
const usualBacklog = 511;

/**
 * Starts listening and says where, with the port that was got: `127.0.0.1:8191`, `[::]:8191`. Connections that cannot be
 * accepted afterwards, for want of descriptors or memory, are passed over.
 * @param refused what is thrown where the address cannot be had
 */
export async function listenAt(
  server: Server,
  { host, port }: ListenAddress,
  refused: (cause: NodeJS.ErrnoException) => Error,
  backlog: number = usualBacklog,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.on('error', (cause) => reject(refused(cause)));
    server.listen({ host, port, backlog }, resolve);
  });
  const bound = server.address() as AddressInfo;
  return formatListenAddress({ host: bound.address, port: bound.port });
}
