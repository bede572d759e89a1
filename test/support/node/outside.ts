import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Identity } from '../certificates.ts';
import { type Loopback, listen } from '../loopback.ts';
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
  const server = createServer(identity, (here) => {
    const there = connect(port, '127.0.0.1');
    pass(here, there);
    pass(there, here);
  });
  server.on('tlsClientError', () => undefined);
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const front = await listen(server);
  return {
    ...front,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function pass(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.end());
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
