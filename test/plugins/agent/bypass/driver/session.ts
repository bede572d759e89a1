import type { Place } from './place.ts';
import type { AccessEventLine } from './records.ts';

/** One agent, or none, in one mode, from its start to its end. */
export interface Session {
  readonly facts: { readonly tier: number; readonly enforcing: boolean };
  /** It kills who reads. */
  readonly kills: boolean;
  /** As they come. */
  readonly hits: readonly AccessEventLine[];
  /** A fresh place; not covered yet. */
  place(): Promise<Place>;
  /** Hits by `road outcome`, as the metrics have them. */
  counted(): Promise<Record<string, number>>;
  /** Hits that the log had no room for. */
  held(): number;
  /** Ends it, and takes its programs off the kernel. */
  close(): Promise<void>;
}
