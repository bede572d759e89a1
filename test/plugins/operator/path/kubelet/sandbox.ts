import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { bundledProgram } from '../../../../support/bundled-program.ts';
import { launchReady } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import type { Stoppable } from '../../../../support/types.ts';
import { passOn } from './pass-on.ts';

const PAUSE = new URL('./fixtures/pause.ts', import.meta.url);
const ENTER = 'ip link set lo up && ip address add "$0/32" dev lo && exec "$@"';

/** The network namespace of a pod. */
export interface Sandbox extends Stoppable {
  /** Of the process that holds it. */
  readonly pid: number;
}

/**
 * Makes a network namespace with nothing in it but loopback, the pod's address, and on loopback the ports of this machine
 * that are named.
 * @param folder an empty one, for sockets
 */
export async function startSandbox(
  folder: string,
  address: string,
  ports: readonly number[],
): Promise<Sandbox> {
  const relays = await Promise.all(ports.map((port) => relay(join(folder, String(port)), port)));
  const pause = [process.execPath, bundledProgram(PAUSE), folder, ...ports.map(String)];
  const command = ['unshare', '--net', 'sh', '-c', ENTER, address, ...pause];
  const { child } = await launchReady('the sandbox of the pod', command, { env: cleanEnv() }, ({ logs }) =>
    logs().includes('ready'),
  );
  return {
    pid: child.pid,
    async stop() {
      await child.stop();
      await Promise.all(relays.map((each) => each.stop()));
    },
  };
}

async function relay(path: string, port: number): Promise<Stoppable> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    passOn(socket, connect(port, '127.0.0.1'));
  });
  server.listen(path);
  await once(server, 'listening');
  return {
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
