/**
 * Serves what a program gets from the secrets SDK: names, the way of delivery, and masked values.
 * PORT (8080) and HOST (all interfaces) say where. DEMO_KEYS, names separated by commas, are shown besides the
 * store's own; without the wrapper they are all that can be listed.
 */
import type { AddressInfo } from 'node:net';
import { exitStatus } from '../core/errors.ts';
import { delivery, demoServer } from './demo-server.ts';
import { open } from './index.ts';
import type { Store } from './store.ts';

const shutdownMs = 5_000;

function port(): number {
  const text = process.env['PORT'] || '8080';
  if (/^[0-9]+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`demo: PORT=${JSON.stringify(text)} is no port: use 0 to 65535`);
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
  // Secrets were renewed, which the next read sees by itself.
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
