import type {
  ProtectionReportStatus,
  WorkloadReport,
} from '../../../core/custom-resources/protection-report.ts';
import type { Score } from '../../../core/score/contract.ts';

const mostWorkloads = 500;
/** The API server stores at most 1.5 MiB of an object. */
const mostBytes = 700_000;

/**
 * The status of a namespace's report. Where there is no room for all workloads, those with the lowest scores are in it.
 * @param scores at least one
 */
export function reportStatus(scores: readonly Score[]): ProtectionReportStatus {
  const lowestFirst = [...scores].sort((a, b) => a.score - b.score || byName(a, b));
  const told = fitting(lowestFirst.map(workloadReport));
  return {
    summary: {
      workloads: scores.length,
      protected: scores.filter((score) => score.protected).length,
      lowestScore: lowestFirst[0]?.score ?? 0,
      leftOut: scores.length - told.length,
    },
    workloads: told.sort(byName),
  };
}

function workloadReport({ kind, name, score, pods, addends, findings }: Score): WorkloadReport {
  return { kind, name, score, pods, addends, findings };
}

function fitting(reports: readonly WorkloadReport[]): WorkloadReport[] {
  let bytes = 0;
  const tooLong = reports.findIndex((report) => {
    bytes += Buffer.byteLength(JSON.stringify(report));
    return bytes > mostBytes;
  });
  return reports.slice(0, Math.min(mostWorkloads, tooLong < 0 ? mostWorkloads : tooLong));
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

function byName(a: Named, b: Named): number {
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}
