import type { Logger } from '../logging/logger.ts';
import type { KubeClient } from './client.ts';
import type { KubeObject } from './objects.ts';
import type { Selection } from './selection.ts';
import type { StoreHandlers } from './store.ts';

export interface ReflectTiming {
  /** The shortest watch; each lasts up to twice as long, so that not all clients come back at once. */
  readonly watchMs: number;
  /** How much later a watch must have ended, before it counts as cut. */
  readonly slackMs: number;
  /** A watch that ends sooner is a failure. */
  readonly stableMs: number;
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

export const defaultTiming: ReflectTiming = {
  watchMs: 120_000,
  slackMs: 15_000,
  stableMs: 1_000,
  initialBackoffMs: 500,
  maxBackoffMs: 30_000,
};

export interface ReflectOptions<O extends KubeObject, T> extends Selection, StoreHandlers<T> {
  readonly client: KubeClient;
  /** Keeps what is needed of an object: all else is forgotten at once. */
  readonly project: (object: O) => T;
  /** After each complete list, its objects handled. */
  readonly onListed?: () => void;
  /** A watch is open, or is no longer. */
  readonly onConnected?: (connected: boolean) => void;
  /** A list or a watch has failed; it is tried again after a pause. */
  readonly onFailed?: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly timing?: Partial<ReflectTiming>;
}

/** A copy of what the API server has, which follows it. What it knows stays while the API server is away. */
export interface Reflector<T> {
  /** After the first complete list; false forever where there never is one. */
  readonly synced: boolean;
  readonly connected: boolean;
  readonly size: number;
  /** @param key `namespace/name`, or the name where the kind has no namespaces */
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /** Resolves with the first complete list, or without one when the signal is aborted. */
  whenSynced(): Promise<void>;
  /** Resolves when the signal was aborted and nothing is under way; never rejects. */
  readonly closed: Promise<void>;
}
