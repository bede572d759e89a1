import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** Sockets that wait before their handshake take little; more of them than any cluster opens are not kept. */
const mostQueued = 1_000;
/** When no review was decided for so long, those that have sent no whole request give way to those that wait. */
const stallMs = 3_000;
/** So long each has for its request in any case. */
const turnMs = 1_500;
/** And so long where this replica had little time to read it: less than API servers wait for an answer. */
const busyTurnMs = 7_000;
/** Share of the time in which the event loop was at work, above which silence says nothing of the callers. */
const busyShare = 0.5;
/** One that was just answered may be sent the next request now, which would be lost on the way. */
const idleMs = 2_000;

export interface ConnectionLimiter {
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

interface Clock {
  /** In ms; only goes forward. */
  now(): number;
  /** Does it when what has arrived by now has been read. */
  later(work: () => void): void;
  /** Share of the time since it was asked last in which this process was at work, or kept from it by others: 0 to 1. */
  utilization(): number;
}

/**
 * Keeps at most so many connections, each of which takes tens of KiB beside its request; others wait before their
 * handshake. While others wait, each answer asks the caller to close its connection; one that has been idle for a while gives
 * way, and where nothing moves any more so do those that have sent no whole request: whoever opens connections and says
 * nothing must not keep the API server out. Where the process itself was kept from running, a request of one that seems
 * silent may only not have been read: nobody is judged before that.
 */
export function makeRoom(server: Server, most: number, clock = systemClock()): ConnectionLimiter {
  const { now, later } = clock;
  const secure = server.listeners('connection');
  const queue = new Map<Socket, string>();
  /** Used longest ago first. */
  const connections = new Map<string, Connection>();
  let decided = 0;
  let watching: NodeJS.Timeout | undefined;
  let isMakingWay = false;

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
      if (connections.size >= most) break;
      queue.delete(socket);
      connections.set(name, { socket, state: 'unfinished', since: now() });
      for (const begin of secure) begin.call(server, socket);
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

  /** For as long as somebody waits. */
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

  /**
   * @param forMs those that have been in that state for so long
   * @returns how many it broke off
   */
  function breakOff(state: State, count: number, forMs: number): number {
    const latest = now() - forMs;
    const found = [...connections]
      .filter(([, one]) => one.state === state && one.since <= latest)
      .slice(0, count);
    for (const [name, { socket }] of found) {
      // the socket that it is secured by closes by itself
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
    // what the loop is doing now comes to an end, then it reads all that there is
    later: (work) => void setImmediate(() => setImmediate(work)),
    utilization() {
      const current = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(current, last);
      last = current;
      return utilization;
    },
  };
}

/** The same of a socket and of the one that secures it. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
