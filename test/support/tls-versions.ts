import { type ConnectionOptions, connect } from 'node:tls';

/** @returns the protocol of a connection for which the client accepts no other; undefined if the listener refuses it */
export function protocolOf(
  address: ConnectionOptions,
  version: 'TLSv1.2' | 'TLSv1.3',
): Promise<string | undefined> {
  const versions = { minVersion: version, maxVersion: version } as const;
  return new Promise((resolve) => {
    const socket = connect({ ...address, ...versions, rejectUnauthorized: false }, () => {
      resolve(socket.getProtocol() ?? undefined);
      socket.destroy();
    });
    socket.on('error', () => undefined).on('close', () => resolve(undefined));
  });
}
