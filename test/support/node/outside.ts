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

/** Where pods find the API server behind its Service, on the port that installers of clusters give it. */
export const API_SERVER = { address: '10.0.2.199', port: 6443 } as const;
/** Of metadata servers in clouds. */
export const METADATA_ADDRESS = '169.254.169.254';

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

const NETNS = 'outside';
/** Addresses there, beside that of metadata servers. */
const BLOCK = '10.0.2.192/26';
const LINK = { node: '10.0.3.1', outside: '10.0.3.2' } as const;

/**
 * A script for the node: addresses outside of the cluster, in a network namespace behind the node's own. The node sees
 * them as they are, as policies name them; only there they are translated to ports of this host. Others refuse TCP.
 */
export function outsideScript(ports: Readonly<Record<OutsideName | 'api', number>>): string {
  const servers = Object.entries({ ...OUTSIDE, api: API_SERVER });
  const inside = (command: string) => `ip netns exec ${NETNS} ${command}`;
  return [
    'set -e',
    `ip netns add ${NETNS}`,
    `ip link add outside0 type veth peer name outside1 netns ${NETNS}`,
    `ip address add ${LINK.node}/30 dev outside0`,
    'ip link set outside0 up',
    inside(`ip address add ${LINK.outside}/30 dev outside1`),
    inside('ip link set outside1 up'),
    inside(`ip route add default via ${LINK.node}`),
    inside(
      'sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.outside1.send_redirects=0',
    ),
    inside('iptables -w -t nat -A POSTROUTING -o outside1 -j MASQUERADE'),
    inside('iptables -w -A FORWARD -m conntrack --ctstate DNAT -j ACCEPT'),
    inside('iptables -w -A FORWARD -p tcp -j REJECT --reject-with tcp-reset'),
    inside('iptables -w -P FORWARD DROP'),
    ...servers.map(([name, { address, port }]) =>
      translation('add', address, port, ports[name as OutsideName | 'api']),
    ),
    ...[BLOCK, METADATA_ADDRESS].map((block) => `ip route add ${block} via ${LINK.outside}`),
    `iptables -w -t nat -A POSTROUTING -s ${LINK.outside} -o eth0 -j MASQUERADE`,
    '',
  ].join('\n');
}

/** A command of root on the node, which leads an address outside of the cluster to a port of this host, or no longer. */
export function translation(
  change: 'add' | 'remove',
  address: string,
  port: number,
  hostPort: number,
): string {
  const match = `--destination ${address} --protocol tcp --dport ${port}`;
  const rule = (verb: string) =>
    `ip netns exec ${NETNS} iptables --wait --table nat ${verb} PREROUTING ${match} --jump DNAT --to ${HOST_ADDRESS}:${hostPort}`;
  return change === 'remove' ? rule('--delete') : `${rule('--check')} 2> /dev/null || ${rule('--append')}`;
}
