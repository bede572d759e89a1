import type { Level } from '../../../core/checks/contract.ts';
import type { Addend, Finding } from '../../../core/score/contract.ts';

/** A workload as the audit found it. */
export interface AuditedWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** 0 to 100. */
  readonly score: number;
  /** Running now; without any its template is judged. */
  readonly pods: number;
  /** Every pod carries the wrapper. */
  readonly protected: boolean;
  /** It asks for protection, or its namespace does: the operator scores it, too. */
  readonly asks: boolean;
  /** Where score and addends are from: the operator's report knows what the agents told. */
  readonly source: 'report' | 'objects';
  /** Why not from the report, as a sentence. */
  readonly because?: string;
  readonly addends: readonly Addend[];
  readonly findings: readonly AuditFinding[];
}

export interface AuditFinding extends Finding {
  readonly level: Level;
}

export function titleOf({ namespace, kind, name }: Pick<AuditedWorkload, 'namespace' | 'kind' | 'name'>) {
  return `${namespace}/${kind}/${name}`;
}
