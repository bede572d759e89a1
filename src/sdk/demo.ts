/**
 * Serves what a program gets from the secrets SDK: names, the way of delivery, and masked values. Listens on PORT
 * (default 8080) and HOST (default: all interfaces). DEMO_KEYS, names separated by commas, are shown in addition to the
 * store's own; without the wrapper only they can be listed.
 */
import type { AddressInfo } from 'node:net';
import { exitStatus } from '../runtime/errors.ts';
import { delivery, demoServer } from './demo-server.ts';
import { open } from './index.ts';
import type { Store } from './store.ts';

const shutdownMs = 5_000;

function port(): number {
  const text = process.env['PORT'] || '8080';
  if (/^[0-9]+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`demo: PORT=${JSON.stringify(text)} is not a port: use 0 to 65535`);
}

function demoKeys(): string[] {
  const names = (process.env['DEMO_KEYS'] ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function serve(store: Store): void {
  const server = demoServer(store, demoKeys());
  server.once('error', fail);
  server.listen(port(), process.env['HOST'] || undefined, () => {
    const { address, port: bound, family } = server.address() as AddressInfo;
    const host = family === 'IPv6' ? `[${address}]` : address;
    console.log(`demo: listening on ${host}:${bound}, secrets from ${delivery(store)}`);
  });
  const stop = () => {
    server.close(() => store.close());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), shutdownMs).unref();
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // Only logged: the next read returns the renewed secrets without any further action.
  process.on('SIGHUP', () => console.log('demo: secrets were renewed'));
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = exitStatus.config;
}

try {
  serve(open());
} catch (error) {
  fail(error);
}
