import type { Socket } from 'node:net';
import {
  descriptorOf,
  type PeerCredentials,
  peerCredentials,
} from '../../../runtime/native/peer-credentials.ts';
import { hasHungUp } from '../../../runtime/native/poll.ts';
import type { Guard } from '../guard/contract.ts';
import { identify } from './caller.ts';
import type { Calls, Identity } from './calls.ts';
import { type Protocol, serveConnection } from './connection.ts';
import { type Bounded, type ConnectionBounds, ConnectionLimit } from './connection-limit.ts';
import { asRefusal } from './refusal.ts';

export interface AcceptorOptions {
  readonly guard: Guard;
  readonly calls: Calls;
  readonly protocol: Protocol;
  readonly bounds: ConnectionBounds;
  /** How long a connection lives. */
  readonly lifetimeMs: number;
}

/** For the answers that are under way when a connection is asked to end. */
const partingMs = 500;

/** Takes connections in and sees to their end. */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #limit: ConnectionLimit;
  readonly #ends = new Set<() => void>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#limit = new ConnectionLimit(options.bounds);
  }

  /** @param socket accepted in this turn of the event loop: nothing was read of it yet */
  accept(socket: Socket): void {
    // a caller may go at any time
    socket.on('error', () => {});
    const descriptor = descriptorOf(socket);
    // who has given up while the agent was at work is not served
    if (descriptor === undefined || hasHungUp(descriptor)) {
      socket.destroy();
      return;
    }
    const peer = peerCredentials(descriptor);
    const identity = identityOf(descriptor, peer, this.#options.guard);
    this.#bound(socket, peer, identity);
    const { calls, protocol } = this.#options;
    this.#endInTime(socket, serveConnection(socket, identity, calls, protocol));
  }

  /** Asks all connections to end. */
  end(): void {
    for (const end of [...this.#ends]) end();
  }

  /** One time for all: for the first bytes, for slow callers and for idle ones. */
  #endInTime(socket: Socket, finish: () => void): void {
    const end = () => {
      finish();
      setTimeout(() => socket.destroy(), partingMs).unref();
    };
    const timer = setTimeout(end, this.#options.lifetimeMs).unref();
    this.#ends.add(end);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#ends.delete(end);
    });
  }

  #bound(socket: Socket, { pid, uid }: PeerCredentials, identity: Identity): void {
    const cgroup = identity instanceof Error ? 0n : identity.cgroup;
    const bounded: Bounded = { pid, owner: `${uid} ${cgroup}`, drop: () => socket.destroy() };
    this.#limit.add(bounded);
    socket.once('close', () => this.#limit.remove(bounded));
  }
}

function identityOf(descriptor: number, peer: PeerCredentials, guard: Guard): Identity {
  try {
    return identify(descriptor, peer, guard);
  } catch (error) {
    return asRefusal(error);
  }
}
