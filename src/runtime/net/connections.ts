import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a server and how many requests each has in progress. `node:http` takes
 * one that never sent a byte for busy, and would wait for it when it is to end.
 */
export class Connections {
  readonly #inProgress = new Map<Socket, number>();
  #closing = false;

  add(socket: Socket): void {
    this.#inProgress.set(socket, 0);
    socket.once('close', () => this.#inProgress.delete(socket));
    if (this.#closing) socket.destroy();
  }

  /** A request has come; it is in progress until its response closes. */
  begin(socket: Socket, response: ServerResponse): void {
    this.#count(socket, 1);
    response.once('close', () => {
      this.#count(socket, -1);
      if (this.#closing) this.#endIdle(socket);
    });
  }

  /** Ends each connection as soon as nothing is in progress on it. */
  close(): void {
    this.#closing = true;
    for (const socket of this.#inProgress.keys()) this.#endIdle(socket);
  }

  #count(socket: Socket, by: 1 | -1): void {
    const now = this.#inProgress.get(socket);
    if (now !== undefined) this.#inProgress.set(socket, now + by);
  }

  /** What was answered still leaves first. */
  #endIdle(socket: Socket): void {
    if (this.#inProgress.get(socket) === 0) socket.destroySoon();
  }
}
