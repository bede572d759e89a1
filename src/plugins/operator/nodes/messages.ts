import type { WrapperMessage } from './measured.ts';

/**
 * proto/svc/operator/v1 as loadProtoService reads it: 64-bit numbers are decimal text, names of enums text, unknown
 * ones a number. An absent message is null.
 */
export interface NodeReportMessage {
  readonly node: string;
  readonly instance: string;
  readonly bootId: string;
  readonly agentVersion: string;
  readonly sequence: string;
  readonly state: NodeStateMessage | null;
  readonly droppedHits: string;
  readonly hits: readonly HitMessage[];
}

export interface NodeStateMessage {
  readonly tier: string | number;
  readonly enforcing: boolean;
  readonly reason: string;
  readonly passedOver: readonly { readonly tier: string | number; readonly reason: string }[];
  readonly pods: readonly ProtectedPodMessage[];
}

export interface ProtectedPodMessage {
  readonly podUid: string;
  readonly covered: boolean;
  readonly uncoveredReason: string;
  readonly processes: readonly { readonly measured: WrapperMessage | null }[];
}

export interface HitMessage {
  readonly number: string;
  readonly count: string;
  readonly road: string | number;
  readonly outcome: string | number;
  readonly target: { readonly podUid: string } | null;
}

export interface NodeReportReply {
  readonly acceptedHit: number;
  readonly sendState: boolean;
  readonly minIntervalMs: number;
}
