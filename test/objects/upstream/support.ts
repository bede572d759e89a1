import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createUpstream, type UpstreamConfig } from '../../../src/objects/upstream/s3-upstream.ts';
import type { Upstream } from '../../../src/objects/upstream/upstream.ts';
import type { UpstreamLimits } from '../../../src/objects/upstream/upstream-exchange.ts';
import type { Logger } from '../../../src/runtime/logging/logger.ts';

export const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-the-test' };

export const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };

export interface LocalStore {
  readonly url: string;
  readonly server: Server;
  stop(): Promise<void>;
}

/** A store in the test's own process that answers as `listener` does. */
export async function localStore(listener: RequestListener): Promise<LocalStore> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function upstreamOf(
  url: string,
  overrides: Partial<UpstreamConfig> & { limits?: Partial<UpstreamLimits>; log?: Logger } = {},
): Upstream {
  const { limits = {}, log = quiet, ...config } = overrides;
  return createUpstream(
    {
      upstream: new URL(url),
      region: 'us-east-1',
      upstreamSigning: 'auto',
      upstreamChecksum: 'crc32',
      ...config,
    },
    log,
    { credentials: () => credentials, limits },
  );
}

/** What `promise` was rejected with. @throws Error when it was not */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; status?: number }> {
  const outcome = await promise.then(
    () => undefined,
    (error: Error) => error,
  );
  if (!outcome) throw new Error('it did not reject');
  return outcome;
}
