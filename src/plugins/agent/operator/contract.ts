import { messageOf } from '../../../core/errors.ts';
import type { AccessEvent } from '../../../core/protection/bpf-layouts.ts';
import type { ProtectionReport } from '../../../core/protection/report.ts';
import type { GuardStatus } from '../guard/contract.ts';

/** Tells the operator what this node is like and what happens on it; never throws, never waits. */
export interface OperatorChannel {
  /**
   * Is told within a second, or once the operator is back.
   * @param count of equal ones that came together; default 1
   * @param lastAt of the last of them, in nanoseconds since 1970; default: the same
   */
  hit(hit: ObservedAccessEvent, count?: number, lastAt?: bigint): void;
  /** The node's state is another one now; it is asked for and told within half a second. */
  changed(): void;
  readonly status: ChannelStatus;
  /** Tells what is left where the operator answers within a second, and ends. */
  close(): Promise<void>;
}

export interface ChannelStatus {
  /** The last report was answered; false without an address too. */
  readonly connected: boolean;
  /** Why the last report failed; undefined when it did not. */
  readonly lastError: string | undefined;
  /** Hits that wait, equal ones taken as one. */
  readonly queued: number;
}

/** Guard and pods as the operator is to know them. */
export interface NodeState extends GuardStatus {
  /** False in audit mode. */
  readonly enforceMode: boolean;
  readonly pods: readonly PodMeasurement[];
}

export interface PodMeasurement {
  /** Empty for processes that belong to no pod. */
  readonly uid: string;
  /** Every process in its cgroup is to be covered; those need not be listed. */
  readonly labelled: boolean;
  /** It is labelled, and its cgroup is in the table in the kernel with all that is in it. */
  readonly covered: boolean;
  /** Why a labelled pod is not covered, or not all of the processes of any pod, as a sentence; else empty. */
  readonly uncoveredReason: string;
  readonly processes: readonly ReportedProcess[];
}

export interface ReportedProcess {
  readonly pid: number;
  /** Nanoseconds since boot. */
  readonly start: bigint;
  /** How it came to be protected. */
  readonly registration: 'wrapper' | 'inherited' | 'pod_label';
  readonly measured?: MeasuredNode | undefined;
}

/** What a wrapper last reported. */
export type MeasuredNode = Pick<
  ProtectionReport,
  'wrapperVersion' | 'wrapper' | 'application' | 'secretMemory' | 'delivery'
>;

export interface OperatorAddress {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** PEM files: the agent's certificate with its chain, its key, the authorities that the operator's may come from. */
export interface TlsPaths {
  readonly certPath: string;
  readonly keyPath: string;
  readonly caPath: string;
}

/** A hit with what this node knows about it. */
export interface ObservedAccessEvent extends AccessEvent {
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  /** Undefined where the number is not one that leads to a hit. */
  readonly syscallName: string | undefined;
  /** UIDs of the pods; undefined for a process that is in none. */
  readonly sourcePod: string | undefined;
  readonly targetPod: string | undefined;
}

/**
 * Why a report was not answered with OK. `result` is the name of a gRPC status in small letters, or
 * `tls_files`, `token_file`, `name_lookup`, `no_progress`, `internal` for what went wrong on this side.
 */
export class ReportError extends Error {
  override readonly name = 'ReportError';
  readonly result: string;

  constructor(result: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.result = result;
  }

  static from(error: unknown): ReportError {
    if (error instanceof ReportError) return error;
    return new ReportError('internal', messageOf(error), {
      cause: error,
    });
  }
}
