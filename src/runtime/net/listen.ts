import type { AddressInfo, Server } from 'node:net';
import { formatListenAddress, type ListenAddress } from '../settings/listen-address.ts';

/** Node's default backlog of connections to accept. */
const defaultBacklog = 511;

/**
 * Starts listening, and returns the address with the actual port: `127.0.0.1:8191`, `[::]:8191`. Later failures to
 * accept, for lack of descriptors or memory, are ignored.
 * @param refused makes the error to throw if the address is not available
 */
export async function listenAt(
  server: Server,
  { host, port }: ListenAddress,
  refused: (cause: NodeJS.ErrnoException) => Error,
  backlog: number = defaultBacklog,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.on('error', (cause) => reject(refused(cause)));
    server.listen({ host, port, backlog }, resolve);
  });
  const bound = server.address() as AddressInfo;
  return formatListenAddress({ host: bound.address, port: bound.port });
}
