import { messageOf } from '../../../runtime/errors.ts';
import type { AccessEvent } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import type { ProtectionReport } from '../../../runtime/protocols/protection/report.ts';
import type { GuardStatus } from '../guard/contract.ts';

/** Reports the node's state and access events to the operator; never throws, never waits. */
export interface OperatorChannel {
  /**
   * Reports an access event within a second, or once the operator is back.
   * @param count number of equal events that came together; default 1
   * @param lastAt time of the last of them, in nanoseconds since 1970; default: time of `hit`
   */
  hit(hit: ObservedAccessEvent, count?: number, lastAt?: bigint): void;
  /** To be called when the node's state has changed; it is reported within half a second. */
  changed(): void;
  readonly status: ChannelStatus;
  /** Sends what is left if the operator answers within a second, and ends. */
  close(): Promise<void>;
}

export interface ChannelStatus {
  /** Whether the last report was answered; false without an address. */
  readonly connected: boolean;
  /** Why the last report failed; undefined if it did not. */
  readonly lastError: string | undefined;
  /** Number of waiting access events, equal ones counted once. */
  readonly queued: number;
}

/** Guard and pods as reported to the operator. */
export interface NodeState extends GuardStatus {
  /** False in audit mode. */
  readonly enforceMode: boolean;
  readonly pods: readonly PodMeasurement[];
}

export interface PodMeasurement {
  /** Empty for processes that belong to no pod. */
  readonly uid: string;
  /** The pod's label asks to cover every process in its cgroup; `processes` need not list all of them. */
  readonly labelled: boolean;
  /** The pod is labelled, and its cgroup is in the kernel's table. */
  readonly covered: boolean;
  /** Why a labelled pod, or not every process of any pod, is not covered, as a sentence; otherwise empty. */
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

/** PEM files: the agent's certificate with its chain, its key, and the authorities of the operator's certificate. */
export interface TlsPaths {
  readonly certPath: string;
  readonly keyPath: string;
  readonly caPath: string;
}

/** An access event with what this node knows about it. */
export interface ObservedAccessEvent extends AccessEvent {
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  /** Undefined for a number that does not lead to access events. */
  readonly syscallName: string | undefined;
  /** UIDs of the pods; undefined for a process that is in none. */
  readonly sourcePod: string | undefined;
  readonly targetPod: string | undefined;
}

/**
 * Why a report was not answered with OK. `result` is the name of a gRPC status in lower case, or `tls_files`,
 * `token_file`, `name_lookup`, `no_progress`, `internal` for failures on this side.
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
