import { randomInt } from 'node:crypto';
import type { LeanMetrics } from '../../../runtime/health/health.ts';
import type { Region } from '../../../runtime/native/memory.ts';
import { sendRecord } from '../../../runtime/native/record-channel.ts';
import { memfdRegion, type ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { findProgram } from '../../../runtime/native/spawn.ts';
import type { TokenKeeper } from '../keep.ts';
import type { Observation } from '../observation.ts';
import type { PreparedApplication } from '../prepare-application.ts';
import { writeLaunch } from './launch-region.ts';
import { renderPages } from './pages.ts';
import { recordKind } from './records.ts';
import { type WorkerMemory, writeState } from './worker-state.ts';

/** What a wrapper tells svc-init over a socket. Descriptors are copied with the records, and closed here. */
export interface InitLink {
  readonly socket: number;
  readonly memory: ShareableMemory;
}

/**
 * Has svc-init start an application, in the place of one that runs.
 * @throws SvcError (127, 126) for a program that cannot be found, before anything is sent
 */
export function sendStart(
  { socket, memory }: InitLink,
  { launch, region, shared }: PreparedApplication,
): void {
  const file = findProgram(launch.file);
  const argv = [launch.file, ...launch.args];
  const strings = writeLaunch({ file, argv, env: launch.env }, memory);
  if (shared) sendRecord(socket, { kind: recordKind.shared }, region.descriptor);
  const values = [strings.length, argv.length, launch.env.length];
  sendRecord(socket, { kind: recordKind.start, number: launch.descriptor ?? 0, values }, strings.descriptor);
  strings.handOver();
}

/** What stays of a wrapper that leaves. */
export interface Parting {
  readonly token: Uint8Array;
  /** The key of the digests. */
  readonly key: Uint8Array;
  readonly tokens: TokenKeeper;
  readonly memory: Omit<WorkerMemory, 'tokens' | 'metrics' | 'degraded'>;
  readonly observation: Observation;
  readonly metrics: LeanMetrics;
  /** Until the next worker, in ms. */
  readonly delayMs: number;
}

/** Passes of many wrappers that were started together drift apart by so much of their interval. */
const spreadPercent = 10;

/** Leaves state and health pages with svc-init, and says when the next worker is due. The last to be sent. */
export async function sendParting({ socket, memory }: InitLink, parting: Parting): Promise<void> {
  const { tokens, observation, metrics, delayMs, token, key } = parting;
  const secondsLeft = tokens.secondsLeft();
  const { degraded } = observation.health.snapshot();
  const remembered = { ...parting.memory, tokens: tokens.knowledge, degraded, metrics: metrics.samples() };
  sendRegion(socket, recordKind.state, writeState({ token, key, memory: remembered }, memory));
  const pages = await renderPages(observation, secondsLeft);
  const region = memfdRegion(pages.length); // svc-init reads it, as it could not read secret memory
  region.bytes.set(pages);
  sendRegion(socket, recordKind.pages, region, [pages.length]);
  const spread = (delayMs * randomInt(spreadPercent * 10)) / 1000;
  const { endsAt } = tokens.knowledge;
  const tokenEnd = typeof endsAt === 'number' ? Math.max(0, endsAt) : 0;
  sendRecord(socket, { kind: recordKind.next, number: 1, values: [delayMs - spread, tokenEnd] });
}

/** Sends a copy of its descriptor, and forgets it here. */
export function sendRegion(
  socket: number,
  kind: number,
  region: Region,
  values: readonly number[] = [],
): void {
  sendRecord(socket, { kind, values }, region.descriptor);
  region.handOver();
}
