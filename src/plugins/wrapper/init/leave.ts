import { randomInt } from 'node:crypto';
import type { TokenKeeper } from '../../../keyserver/token-keeper.ts';
import type { LeanMetrics } from '../../../runtime/health/plain-metrics.ts';
import type { Region } from '../../../runtime/native/memory.ts';
import { sendRecord } from '../../../runtime/native/record-channel.ts';
import { memfdRegion, type ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import { findProgram } from '../../../runtime/native/spawn.ts';
import type { Observation } from '../observation.ts';
import type { PreparedApplication } from '../prepare-application.ts';
import { writeLaunch } from './launch-region.ts';
import { renderPages } from './pages.ts';
import { recordKind } from './records.ts';
import { type WorkerMemory, writeState } from './worker-state.ts';

/** The wrapper's end of the socket to svc-init. A descriptor sent with a record is closed here. */
export interface InitLink {
  readonly socket: number;
  readonly memory: ShareableMemory;
}

/**
 * Makes svc-init start an application, replacing a running one.
 * @throws SvcError (127, 126) for a program that cannot be found or run, before anything is sent
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

/** What a leaving wrapper hands to svc-init. */
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

/** Share of the interval by which passes of wrappers started together drift apart. */
const spreadPercent = 10;

/** Leaves state and health pages with svc-init, and says when the next worker is due. To be sent last. */
export async function sendParting(link: InitLink, parting: Parting): Promise<void> {
  const { socket, memory } = link;
  const { tokens, observation, metrics, delayMs, token, key } = parting;
  const { degraded } = observation.health.snapshot();
  const remembered = { ...parting.memory, tokens: tokens.knowledge, degraded, metrics: metrics.samples() };
  sendRegion(socket, recordKind.state, writeState({ token, key, memory: remembered }, memory));
  const spread = (delayMs * randomInt(spreadPercent * 10)) / 1000;
  await sendPages(link, { tokens, observation, delayMs: delayMs - spread, resident: false });
}

export interface Shown extends Pick<Parting, 'tokens' | 'observation' | 'delayMs'> {
  readonly resident: boolean;
}

/** Gives svc-init the health pages, and the times that go with them. */
export async function sendPages({ socket }: InitLink, shown: Shown): Promise<void> {
  const { tokens, observation, delayMs, resident } = shown;
  const pages = await renderPages(observation, tokens.secondsLeft(), resident);
  const region = memfdRegion(pages.length); // svc-init uses pread(2), which secret memory refuses
  region.bytes.set(pages);
  sendRegion(socket, recordKind.pages, region, [pages.length]);
  const { endsAt } = tokens.knowledge;
  const tokenEnd = typeof endsAt === 'number' ? Math.max(0, endsAt) : 0;
  sendRecord(socket, { kind: recordKind.next, number: 1, values: [delayMs, tokenEnd] });
}

/** Sends a copy of the region's descriptor and releases the region here. */
export function sendRegion(
  socket: number,
  kind: number,
  region: Region,
  values: readonly number[] = [],
): void {
  sendRecord(socket, { kind, values }, region.descriptor);
  region.handOver();
}
