import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { resetSocket } from '../../src/runtime/net/accepted-sockets.ts';
import type { CannedAnswer, Cut, Faults } from './faults.ts';
import type { CutDirection, CutManner } from './types.ts';

/** Lets the receiver read what was passed before a reset overtakes it. */
const BEFORE_RESET_MS = 20;
const REQUEST_LINE = /^([A-Z]+ \S+) HTTP\/1\.[01]\r\n/;

export interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  readonly faults: Faults;
  /** Gets the client's socket, its unread request put back, for a canned answer. */
  readonly takeOver: (client: Socket, answer: CannedAnswer) => void;
}

interface State extends Connection {
  /** Aborted when the client has gone. */
  readonly gone: AbortController;
  turn: CutDirection | undefined;
  /** The cut that `cutLeft` counts for. */
  cut: Cut | undefined;
  cutLeft: number;
  over: boolean;
}

/** Relays both directions until both have ended, subject to the faults; never throws. */
export async function relay(connection: Connection): Promise<void> {
  const gone = new AbortController();
  const state: State = { ...connection, gone, turn: undefined, cut: undefined, cutLeft: 0, over: false };
  const { client, server } = state;
  for (const socket of [client, server]) socket.on('error', () => undefined).setNoDelay(true);
  client.once('close', (withError) => {
    gone.abort();
    if (withError) resetSocket(server);
    else server.destroySoon();
  });
  await Promise.all([pump(state, client, server, 'to-server'), pump(state, server, client, 'to-client')]);
}

async function pump(state: State, source: Socket, target: Socket, direction: CutDirection): Promise<void> {
  try {
    const diverted = await passAll(state, source, target, direction);
    if (diverted) return divert(state, diverted);
    await untilReleased(state);
    if (!state.over) target.end();
  } catch {
    if (!state.over) resetSocket(target);
  }
}

/** Returns early when the connection is to be answered here; after a cut it reads on and drops the bytes. */
async function passAll(state: State, source: Socket, target: Socket, direction: CutDirection) {
  for await (const chunk of source.iterator({ destroyOnReturn: false })) {
    if (state.over) continue;
    const turned = await arrival(state, direction);
    const answer = direction === 'to-server' && turned ? cannedFor(state.faults, chunk) : undefined;
    if (answer) {
      state.over = true;
      return { chunk, answer };
    }
    await pass(state, target, chunk, direction);
  }
  return undefined;
}

/** Waits as long as the faults say; returns whether the other side was the last to speak. */
async function arrival(state: State, direction: CutDirection): Promise<boolean> {
  const { faults, gone } = state;
  const turned = state.turn !== direction;
  state.turn = direction;
  await untilReleased(state);
  if (turned && faults.delayMs > 0) await sleep(faults.delayMs, undefined, { signal: gone.signal });
  return turned;
}

async function pass(state: State, target: Socket, chunk: Buffer, direction: CutDirection): Promise<void> {
  if (state.over) return;
  const allowed = allowance(state, chunk.length, direction);
  await write(state, target, chunk.subarray(0, allowed), direction);
  if (allowed < chunk.length) await cut(state, target, (state.cut as Cut).manner);
}

async function untilReleased({ faults, gone }: State): Promise<void> {
  if (!faults.stalled) return;
  const left = once(gone.signal, 'abort');
  await Promise.race([faults.stalled, left]);
  gone.signal.throwIfAborted();
}

async function write({ faults, gone }: State, target: Socket, bytes: Buffer, direction: CutDirection) {
  if (bytes.length === 0) return;
  faults.stats[direction === 'to-server' ? 'bytesToServer' : 'bytesToClient'] += bytes.length;
  if (!target.write(bytes)) await once(target, 'drain', { signal: gone.signal });
}

function cannedFor(faults: Faults, chunk: Buffer): CannedAnswer | undefined {
  const line = REQUEST_LINE.exec(chunk.toString('latin1'))?.[1];
  const { canned } = faults;
  if (!line || !canned || canned.left <= 0 || !canned.when.test(line)) return undefined;
  canned.left -= 1;
  faults.stats.answered += 1;
  return canned;
}

function divert(state: State, { chunk, answer }: { chunk: Buffer; answer: CannedAnswer }): void {
  state.server.destroy();
  state.client.unshift(chunk);
  state.takeOver(state.client, answer);
}

/** How many of `length` bytes may pass before the cut. */
function allowance(state: State, length: number, direction: CutDirection): number {
  const { cut } = state.faults;
  if (!cut || cut.direction !== direction || cut.left <= 0) return length;
  if (state.cut !== cut) {
    state.cut = cut;
    state.cutLeft = cut.bytes;
  }
  const allowed = Math.min(length, state.cutLeft);
  state.cutLeft -= allowed;
  if (allowed < length) cut.left -= 1;
  return allowed;
}

async function cut(state: State, target: Socket, manner: CutManner): Promise<void> {
  state.over = true;
  const { client, server } = state;
  if (manner === 'fin') {
    for (const socket of [client, server]) socket.end();
    return;
  }
  await new Promise((resolve) => target.write('', resolve));
  await sleep(BEFORE_RESET_MS);
  for (const socket of [client, server]) resetSocket(socket);
}
