import type { Addend, Finding } from '../score/contract.ts';
import type { Condition } from './condition.ts';

/** One per namespace, named `svc`, written by the operator alone; it has no spec. */
export interface ProtectionReportStatus {
  readonly summary: ReportSummary;
  /** Sorted by kind and name, at most 500. */
  readonly workloads: readonly WorkloadReport[];
  readonly conditions?: readonly Condition[];
}

export interface ReportSummary {
  readonly workloads: number;
  /** With every pod wrapped. */
  readonly protected: number;
  readonly lowestScore: number;
  /** Of workloads that found no room in the list. */
  readonly leftOut: number;
}

export interface WorkloadReport {
  readonly kind: string;
  readonly name: string;
  readonly score: number;
  readonly pods: number;
  readonly addends: readonly Addend[];
  readonly findings: readonly Finding[];
}

export const reportName = 'svc';
