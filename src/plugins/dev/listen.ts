import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { formatListenAddress, listenAddress } from '../../runtime/settings/listen-address.ts';
import { isLoopback, SettingMistake } from '../../runtime/settings/setting.ts';

const host = '127.0.0.1';

/** The address that the user named. @throws SvcError DEV_LISTEN unless it is a loopback address */
export function givenAddress(text: string): string {
  const { parse, expects } = listenAddress();
  try {
    const address = parse(text);
    if (isLoopback(address.host)) return formatListenAddress(address);
  } catch (error) {
    if (!(error instanceof SettingMistake)) throw error;
  }
  throw new SvcError('DEV_LISTEN', `--listen takes a loopback address: ${expects.split(',')[0]}`, {
    nextStep: 'For a proxy that others may reach, use `svc run proxy`.',
    exitStatus: exitStatus.usage,
  });
}

/** Starts on this port of 127.0.0.1, or on a free one if it is taken. @throws any other error of `start` */
export async function startNear<T>(port: number, start: (address: string) => Promise<T>): Promise<T> {
  try {
    return await start(`${host}:${port}`);
  } catch (error) {
    if (!isTaken(error)) throw error;
    return start(`${host}:0`);
  }
}

function isTaken(error: unknown): boolean {
  return (
    error instanceof SvcError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
  );
}

/** A port of 127.0.0.1 that was free a moment ago, for a server that cannot report its own. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createTcpServer();
    probe.once('error', reject);
    probe.listen({ host, port: 0 }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

export interface LoopbackServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Closes the server and cuts open connections. */
  close(): Promise<void>;
}

/** Uploads may take any time; the only client is on the same machine. */
const limits: ServerOptions = { requestTimeout: 0, keepAliveTimeout: 60_000, maxHeaderSize: 64 * 1024 };

/** Serves on a free port of the loopback interface. */
export async function serveOnLoopback(listener: RequestListener): Promise<LoopbackServer> {
  const server = createServer(limits, listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
