import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../src/runtime/net/accepted-sockets.ts';
import { relay } from './fault-connection.ts';
import { type CannedAnswer, clear, createFaults, stall } from './faults.ts';
import { freePort } from './ports.ts';
import type { CutDirection, CutManner, CutOptions, FaultProxy } from './types.ts';

/**
 * Starts a TCP relay in front of `target`, an address such as `http://127.0.0.1:8200`.
 * It passes everything on, closes and resets included, until told otherwise.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { protocol, hostname, port: targetPort } = new URL(target);
  const faults = createFaults();
  const { stats } = faults;
  const open = new Set<Socket>();
  const takeOver = createAnswerer();

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    stats.connections += 1;
    const server = connect({ host: hostname, port: Number(targetPort), allowHalfOpen: true });
    for (const socket of [client, server]) track(open, socket);
    void relay({ client, server, faults, takeOver });
  });
  const listen = async (wanted: number) => {
    listener.listen(wanted, '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  };
  const refuse = async () => {
    for (const socket of open) resetSocket(socket);
    if (!listener.listening) return;
    listener.close();
    await once(listener, 'close');
  };
  // it is left while connections are refused, and taken again
  const port = await listen(await freePort());

  return {
    port,
    url: `${protocol}//127.0.0.1:${port}`,
    refuse,
    hang: () => stall(faults),
    delay(ms) {
      faults.delayMs = ms;
    },
    cutAfter(bytes: number, direction: CutDirection, manner: CutManner, options: CutOptions = {}) {
      faults.cut = { bytes, direction, manner, left: options.count ?? Number.POSITIVE_INFINITY };
    },
    answer(status, body = '', { count = Number.POSITIVE_INFINITY, headers = {}, when = /^/ } = {}) {
      faults.canned = { status, body, headers, when, left: count };
    },
    async heal() {
      clear(faults);
      if (!listener.listening) await listen(port);
    },
    get stats() {
      return { ...stats, open: open.size / 2 };
    },
    async stop() {
      await refuse();
      clear(faults);
    },
  };
}

function track(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  socket.once('close', () => open.delete(socket));
}

/** Answers on sockets that were accepted elsewhere, after reading the whole request, and closes them. */
function createAnswerer(): (client: Socket, answer: CannedAnswer) => void {
  const answers = new WeakMap<Socket, CannedAnswer>();
  const server = createHttpServer({ requestTimeout: 0 }, (request, response) => {
    const { status, headers, body } = answers.get(request.socket) as CannedAnswer;
    request.resume().once('end', () => {
      response
        .writeHead(status, { ...headers, connection: 'close' })
        .end(request.method === 'HEAD' ? '' : body);
    });
  });
  return (client, answer) => {
    answers.set(client, answer);
    server.emit('connection', client);
  };
}
