import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** Sockets that wait before their handshake take little; more of them than any cluster opens are not kept. */
const mostQueued = 1_000;
/** When no review was decided for so long, those that have sent no whole request give way to those that wait. */
const stallMs = 3_000;
/** One that was just answered may be sent the next request now, which would be lost on the way. */
const idleMs = 2_000;

export interface ConnectionRoom {
  /** Hangs up on those that wait. */
  close(): void;
}

/** `unfinished`: it has not sent a whole request yet. */
type State = 'unfinished' | 'answering' | 'idle';

interface Connection {
  readonly socket: Socket;
  readonly state: State;
  /** In ms. */
  readonly since: number;
}

/**
 * Keeps at most so many connections, each of which takes tens of KiB beside its request; others wait before their
 * handshake. While others wait, each answer asks the caller to close its connection; one that has been idle for a while gives
 * way, and where nothing moves any more so do those that have sent no whole request: whoever opens connections and says
 * nothing must not keep the API server out.
 * @param now in ms, of a clock that only goes forward
 */
export function makeRoom(server: Server, most: number, now = () => performance.now()): ConnectionRoom {
  const secure = server.listeners('connection');
  const queue = new Map<Socket, string>();
  /** Used longest ago first. */
  const connections = new Map<string, Connection>();
  let decided = 0;
  let watching: NodeJS.Timeout | undefined;

  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    if (queue.size >= mostQueued) {
      socket.destroy();
      return;
    }
    const name = nameOf(socket);
    queue.set(socket, name);
    socket.once('close', () => leave(socket, name));
    letIn();
  });
  // before whoever answers
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const name = nameOf(request.socket);
    if (queue.size > 0) response.setHeader('connection', 'close');
    // another request of a connection that was idle
    become(name, 'unfinished');
    const whole = () => become(name, 'answering');
    request.once('end', whole);
    response.once('close', () => {
      // a request that was answered unread ends later
      request.off('end', whole);
      // refusals and callers that hang up say nothing of how reviews go
      if (response.writableFinished && response.statusCode === 200) decided += 1;
      become(name, 'idle');
      letIn();
    });
  });
  return {
    close() {
      for (const socket of queue.keys()) socket.destroy();
      clearInterval(watching);
    },
  };

  function letIn(): void {
    for (const [socket, name] of queue) {
      if (connections.size >= most) breakOff('idle', 1, now() - idleMs);
      if (connections.size >= most) break;
      queue.delete(socket);
      connections.set(name, { socket, state: 'unfinished', since: now() });
      for (const begin of secure) begin.call(server, socket);
    }
    watch();
  }

  /** For as long as somebody waits. */
  function watch(): void {
    if ((watching !== undefined) === queue.size > 0) return;
    clearInterval(watching);
    watching = queue.size > 0 ? setInterval(endStall, stallMs, { until: decided }) : undefined;
  }

  function endStall(seen: { until: number }): void {
    if (seen.until === decided) breakOff('unfinished', queue.size);
    seen.until = decided;
    letIn();
  }

  /** @param latest those that are in that state since then, or longer */
  function breakOff(state: State, count: number, latest = Number.POSITIVE_INFINITY): void {
    const found: [string, Socket][] = [];
    for (const [name, one] of connections) {
      if (found.length === count || one.since > latest) break;
      if (one.state === state) found.push([name, one.socket]);
    }
    for (const [name, socket] of found) {
      // the socket that it is secured by closes by itself
      connections.delete(name);
      socket.destroy();
    }
  }

  function become(name: string, state: State): void {
    const connection = connections.get(name);
    if (connection === undefined) return;
    connections.delete(name);
    connections.set(name, { ...connection, state, since: now() });
  }

  function leave(socket: Socket, name: string): void {
    queue.delete(socket);
    if (connections.get(name)?.socket === socket) connections.delete(name);
    letIn();
  }
}

/** The same of a socket and of the one that secures it. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
