import type { Socket } from 'node:net';
import type Grpc from '@grpc/grpc-js';
import {
  descriptorOf,
  hasHungUp,
  type PeerCredentials,
  peerCredentials,
} from '../../../runtime/native/sockets.ts';
import type { Guard } from '../guard/contract.ts';
import { identify } from './caller.ts';
import type { Calls, IdentifiedCaller, RegisterAnswer, RegisterMessage, ReportMessage } from './calls.ts';
import { asRegistrationRefused, givenUp } from './refusal.ts';

export interface AcceptorOptions {
  readonly guard: Guard;
  readonly calls: Calls;
  readonly protocol: Protocol;
  readonly bounds: AcceptorBounds;
  /** How long a connection lives. */
  readonly lifetimeMs: number;
}

/** Time to send pending answers when a connection must end. */
const partingMs = 500;

/** Accepts connections and ends them in time. */
export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #limit: ConnectionLimit;
  readonly #ends = new Set<() => void>();

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#limit = new ConnectionLimit(options.bounds);
  }

  /** @param socket accepted in this turn of the event loop, before anything was read from it */
  accept(socket: Socket): void {
    // a caller may disconnect at any time
    socket.on('error', () => {});
    const descriptor = descriptorOf(socket);
    // a caller that gave up while the agent was busy is not served
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

  /** A single deadline bounds the first bytes, slow callers and idle ones. */
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

  #bound(socket: Socket, { pid, uid }: PeerCredentials, identity: IdentifiedCaller): void {
    const cgroup = identity instanceof Error ? 0n : identity.cgroup;
    const bounded: Bounded = { pid, owner: `${uid} ${cgroup}`, drop: () => socket.destroy() };
    this.#limit.add(bounded);
    socket.once('close', () => this.#limit.remove(bounded));
  }
}

function identityOf(descriptor: number, peer: PeerCredentials, guard: Guard): IdentifiedCaller {
  try {
    return identify(descriptor, peer, guard);
  } catch (error) {
    return asRegistrationRefused(error);
  }
}

interface Protocol {
  readonly grpc: typeof Grpc;
  readonly service: Grpc.ServiceDefinition;
}

/** Messages are below 300 bytes, and a caller makes one call after the other. */
const bounds = {
  'grpc.max_receive_message_length': 65_536,
  'grpc.max_concurrent_streams': 4,
  'grpc-node.max_session_memory': 10,
  'grpc.enable_channelz': 0,
};

/**
 * Serves one connection with a server of its own, so that its calls cannot be attributed to another caller. Costs 0.1
 * ms.
 * @param socket from which nothing was read yet
 * @returns a function that ends the connection once its calls are answered
 */
function serveConnection(
  socket: Socket,
  identity: IdentifiedCaller,
  calls: Calls,
  { grpc, service }: Protocol,
): () => void {
  const server = new grpc.Server(bounds);
  server.addService(service, {
    Register: unary<RegisterMessage, RegisterAnswer>(grpc, (message, asker) =>
      calls.register(identity, message, asker),
    ),
    Report: unary<ReportMessage, object>(grpc, async (message) => {
      calls.report(identity, message);
      return {};
    }),
  });
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  injector.injectConnection(socket);
  return () => injector.destroy();
}

/** @param answer gets a signal that is aborted when the caller cancels the call or its deadline passes */
function unary<Request, Answer>(
  grpc: typeof Grpc,
  answer: (message: Request, asker: AbortSignal) => Promise<Answer>,
): Grpc.handleUnaryCall<Request, Answer> {
  return async (call, reply) => {
    try {
      reply(null, await answer(call.request, askerOf(call)));
    } catch (error) {
      const { status, message } = asRegistrationRefused(error);
      reply({ code: grpc.status[status], details: message });
    }
  };
}

function askerOf<Request, Answer>(call: Grpc.ServerUnaryCall<Request, Answer>): AbortSignal {
  const asker = new AbortController();
  const abort = () => asker.abort(givenUp());
  if (call.cancelled) abort();
  else call.once('cancelled', abort);
  return asker.signal;
}

/** The properties of a connection that matter when there are too many. */
interface Bounded {
  /** 0 for a process outside the agent's PID namespace. */
  readonly pid: number;
  /** The owner, such as user and container. */
  readonly owner: string;
  /** Ends the connection at once. */
  drop(): void;
}

export interface AcceptorBounds {
  readonly perProcess: number;
  readonly total: number;
}

/**
 * Limits the number of connections without refusing any: a new one replaces the oldest of its process, or of the owner
 * that holds the most. So nobody keeps others out by holding connections.
 */
export class ConnectionLimit {
  readonly #bounds: AcceptorBounds;
  /** Oldest first. */
  readonly #held = new Set<Bounded>();

  constructor(bounds: AcceptorBounds) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#held.size;
  }

  add(connection: Bounded): void {
    const own = [...this.#held].filter(({ pid }) => pid !== 0 && pid === connection.pid);
    if (own.length >= this.#bounds.perProcess) this.#drop(own[0]);
    else if (this.#held.size >= this.#bounds.total) this.#drop(this.#oldestOfLargest());
    this.#held.add(connection);
  }

  remove(connection: Bounded): void {
    this.#held.delete(connection);
  }

  #drop(connection: Bounded | undefined): void {
    if (connection === undefined) return;
    this.#held.delete(connection);
    connection.drop();
  }

  #oldestOfLargest(): Bounded | undefined {
    const byOwner = Map.groupBy(this.#held, ({ owner }) => owner);
    let largest: readonly Bounded[] = [];
    for (const held of byOwner.values()) if (held.length > largest.length) largest = held;
    return largest[0];
  }
}
