import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from '../certificates.ts';
import { type Loopback, listen } from '../loopback.ts';
import type { Stoppable } from '../types.ts';
import { HOST_ADDRESS } from './machine.ts';

/** Servers outside of the cluster, as the pages name them: what their names lead to on the node, and at which port. */
export const OUTSIDE = {
  'vault.example.eu': { address: '10.0.2.200', port: 8200 },
  'registry.example': { address: '10.0.2.201', port: 443 },
  's3.example.eu': { address: '10.0.2.202', port: 443 },
} as const;

export type OutsideName = keyof typeof OUTSIDE;

/** TLS for a server on loopback that has none, or another name. */
export async function startTlsFront(identity: Identity, port: number): Promise<Loopback> {
  const server = createTlsServer(identity, (here) => join(here, port));
  server.on('tlsClientError', () => undefined);
  const end = endOf(server);
  const front = await listen(server);
  return { ...front, stop: end };
}

/** A Unix socket that leads to a port of loopback: API servers speak to CONNECT proxies without TLS there only. */
export async function startRelay(path: string, port: number): Promise<Stoppable> {
  const server = createServer((here) => join(here, port));
  const stop = endOf(server);
  server.listen(path);
  await once(server, 'listening');
  return { stop };
}

function join(here: Socket, port: number): void {
  const there = connect(port, '127.0.0.1');
  pass(here, there);
  pass(there, here);
}

function pass(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.end());
}

/** Ends it with its connections. */
function endOf(server: Server): () => Promise<void> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
}

/** Rules of the node's firewall that lead the addresses of the names to this host's ports. */
export function outsideRules(ports: Readonly<Record<OutsideName, number>>): string {
  const rules = Object.entries(OUTSIDE).flatMap(([name, { address, port }]) =>
    ['OUTPUT', 'PREROUTING'].map(
      (chain) =>
        `iptables -w -t nat -A ${chain} -d ${address} -p tcp --dport ${port} -j DNAT --to ${HOST_ADDRESS}:${ports[name as OutsideName]}`,
    ),
  );
  return `set -e\n${rules.join('\n')}\n`;
}
