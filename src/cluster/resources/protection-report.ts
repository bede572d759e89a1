import type { Factor, Finding } from '../score/contract.ts';
import type { PassedOverTier } from '../score/workloads.ts';
import type { Condition } from './resources.ts';

/** One per namespace, named `svc`, written by the operator alone; it has no spec. */
export interface ProtectionReportStatus {
  readonly summary: ReportSummary;
  /** Sorted by kind and name, at most 500. */
  readonly workloads: readonly WorkloadReport[];
  /** Nodes of its pods whose agent reports, sorted by name, at most 500; absent in reports of older operators. */
  readonly nodes?: readonly NodeReportEntry[];
  readonly conditions?: readonly Condition[];
}

export interface ReportSummary {
  readonly workloads: number;
  /** Number of workloads whose pods are all wrapped. */
  readonly protected: number;
  readonly lowestScore: number;
  /** Number of workloads that did not fit in the list. */
  readonly leftOut: number;
  /** Number of nodes that did not fit in their list; absent: none. */
  readonly nodesLeftOut?: number;
}

export interface WorkloadReport {
  readonly kind: string;
  readonly name: string;
  readonly score: number;
  readonly pods: number;
  readonly addends: readonly Factor[];
  readonly findings: readonly Finding[];
}

/** What a node's agent enforces, and why not a higher tier. */
export interface NodeReportEntry {
  readonly name: string;
  /** 1 to 4, see runtime/protocols/protection. */
  readonly tier: number;
  readonly enforcing: boolean;
  /** Why the agent does not enforce, as a sentence; absent if it does. */
  readonly reason?: string;
  /** Why higher tiers are not in force, highest first; absent if there is nothing to report. */
  readonly passedOver?: readonly PassedOverTier[];
}

export const reportName = 'svc';
