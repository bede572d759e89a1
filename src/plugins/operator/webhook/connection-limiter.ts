import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { interceptAccepted, peerOf } from '../../../runtime/net/connections.ts';

/** Sockets that wait for their handshake need little memory. The limit is above what any cluster opens. */
const mostQueued = 1_000;
/** If no review was decided for this long, connections without a complete request are closed for waiting ones. */
const stallMs = 3_000;
/** Minimum time for a connection to send its request. */
const turnMs = 1_500;
/** The same if this replica had little time to read the request; less than API servers wait for a response. */
const busyTurnMs = 7_000;
/** Utilization of the event loop above which a silent connection proves nothing. */
const busyShare = 0.5;
/** A connection that was just answered may be receiving the next request, which closing would lose. */
const idleMs = 2_000;

export interface ConnectionLimiter {
  /** Closes the waiting connections. */
  close(): void;
}

/** `unfinished`: no complete request received yet. */
type State = 'unfinished' | 'answering' | 'idle';

interface Connection {
  readonly socket: Socket;
  readonly state: State;
  /** In ms. */
  readonly since: number;
}

interface Clock {
  /** In ms; monotonic. */
  now(): number;
  /** Runs `work` once all data that has arrived by now has been read. */
  later(work: () => void): void;
  /** Share of the time since the last call in which the event loop was busy or was not scheduled: 0 to 1. */
  utilization(): number;
}

/**
 * Limits the number of connections, each of which takes tens of KiB besides its request; more wait before their
 * handshake. While connections wait, each response asks the caller to close its connection, and connections that have
 * been idle for a while are closed. If no review is decided for some time, so are connections without a complete
 * request: silent connections must not keep the API server out. If the process itself was not scheduled, a request may
 * have arrived without being read, so nothing is closed before all data has been read.
 */
export function makeRoom(server: Server, most: number, clock = systemClock()): ConnectionLimiter {
  const { now, later } = clock;
  const queue = new Map<Socket, string>();
  /** Least recently used first. */
  const connections = new Map<string, Connection>();
  let decided = 0;
  let watching: NodeJS.Timeout | undefined;
  let isMakingWay = false;

  const secure = interceptAccepted(server, (socket) => {
    if (queue.size >= mostQueued) {
      socket.destroy();
      return;
    }
    const name = peerOf(socket);
    queue.set(socket, name);
    socket.once('close', () => leave(socket, name));
    letIn();
  });
  // before the handler that answers
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const name = peerOf(request.socket);
    if (queue.size > 0) response.setHeader('connection', 'close');
    // for the next request on an idle connection
    become(name, 'unfinished');
    const whole = () => become(name, 'answering');
    request.once('end', whole);
    response.once('close', () => {
      // a request that was answered without being read ends later
      request.off('end', whole);
      // refused and abandoned requests do not show that reviews make progress
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
      if (connections.size >= most) break;
      queue.delete(socket);
      connections.set(name, { socket, state: 'unfinished', since: now() });
      secure(socket);
    }
    if (queue.size > 0) makeWay();
    watch();
  }

  function makeWay(): void {
    if (isMakingWay) return;
    isMakingWay = true;
    later(() => {
      isMakingWay = false;
      if (breakOff('idle', queue.size, idleMs) > 0) letIn();
    });
  }

  /** Runs while connections wait. */
  function watch(): void {
    if ((watching !== undefined) === queue.size > 0) return;
    clearInterval(watching);
    watching = queue.size > 0 ? setInterval(endStall, stallMs, { until: decided }) : undefined;
  }

  function endStall(seen: { until: number }): void {
    later(() => {
      const turn = clock.utilization() > busyShare ? busyTurnMs : turnMs;
      if (seen.until === decided) breakOff('unfinished', queue.size, turn);
      seen.until = decided;
      letIn();
    });
  }

  /** @param forMs minimum time in this state @returns how many connections were closed */
  function breakOff(state: State, count: number, forMs: number): number {
    const latest = now() - forMs;
    const found = [...connections]
      .filter(([, one]) => one.state === state && one.since <= latest)
      .slice(0, count);
    for (const [name, { socket }] of found) {
      // its TLS socket closes by itself
      connections.delete(name);
      socket.destroy();
    }
    return found.length;
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

function systemClock(): Clock {
  let last = performance.eventLoopUtilization();
  return {
    now: () => performance.now(),
    // the current turn of the event loop ends, then everything that has arrived is read
    later: (work) => void setImmediate(() => setImmediate(work)),
    utilization() {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, last);
      last = current;
      return utilization;
    },
  };
}
