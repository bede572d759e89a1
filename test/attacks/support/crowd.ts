import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** Connections of somebody who means harm; what becomes of them does not matter. Over TLS where the URL says so. */
export class Crowd {
  readonly address: { readonly host: string; readonly port: number };
  readonly #isTls: boolean;
  readonly #share: number;
  readonly #sockets = new Set<Socket>();

  /** @param share of the connections that `send` is told */
  constructor(url: string, share = 1) {
    this.#share = share;
    const { hostname: host, port, protocol } = new URL(url);
    this.address = { host, port: Number(port) };
    this.#isTls = protocol === 'https:';
  }

  /** Those that are open. */
  get size(): number {
    return this.#sockets.size;
  }

  /** @param bytes what each sends, and then no more */
  async send(count: number, bytes: Uint8Array): Promise<void> {
    for (let left = Math.ceil(count * this.#share); left > 0; left--) {
      this.open().write(bytes);
      if (left % 20 === 0) await setTimeout(5);
    }
  }

  /** Hundreds of handshakes at a time would hold each other up until they are ended. */
  async established(count: number, atOnce = 32): Promise<readonly Socket[]> {
    const sockets: Socket[] = [];
    while (sockets.length < count) {
      const some = Array.from({ length: Math.min(atOnce, count - sockets.length) }, () => this.open());
      await Promise.all(some.map((socket) => settled(socket, this.#isTls ? 'secureConnect' : 'connect')));
      sockets.push(...some);
    }
    return sockets;
  }

  /** The TCP connection alone, whatever the URL says. */
  openTcp(): Socket {
    return this.add(connect(this.address));
  }

  open(): Socket {
    return this.#isTls
      ? this.add(connectTls({ ...this.address, rejectUnauthorized: false }))
      : this.openTcp();
  }

  add<T extends Socket>(socket: T): T {
    this.#sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Resolves with the event, or the end. */
export const settled = (socket: Socket, event: string): Promise<void> =>
  new Promise((resolve) => {
    socket.once(event, () => resolve()).once('close', () => resolve());
  });
