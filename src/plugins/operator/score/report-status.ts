import type {
  NodeReport,
  ProtectionReportStatus,
  WorkloadReport,
} from '../../../core/custom-resources/protection-report.ts';
import type { Score } from '../../../core/score/contract.ts';

/** Of workloads, and of nodes. */
const mostItems = 500;
/** The API server stores at most 1.5 MiB of an object. */
const mostBytes = { workloads: 700_000, nodes: 300_000 };

/**
 * The status of a namespace's report. Where there is no room for all workloads, those with the lowest scores are in it;
 * of nodes those that protect least.
 * @param scores at least one
 */
export function reportStatus(
  scores: readonly Score[],
  nodes: readonly NodeReport[] = [],
): ProtectionReportStatus {
  const lowestFirst = [...scores].sort((a, b) => a.score - b.score || byName(a, b));
  const told = fitting(lowestFirst.map(workloadReport), mostBytes.workloads);
  const toldNodes = fitting([...nodes].sort(weakestFirst), mostBytes.nodes);
  return {
    summary: {
      workloads: scores.length,
      protected: scores.filter((score) => score.protected).length,
      lowestScore: lowestFirst[0]?.score ?? 0,
      leftOut: scores.length - told.length,
      ...(toldNodes.length < nodes.length && { nodesLeftOut: nodes.length - toldNodes.length }),
    },
    workloads: told.sort(byName),
    nodes: toldNodes.sort((a, b) => compare(a.name, b.name)),
  };
}

function workloadReport({ kind, name, score, pods, addends, findings }: Score): WorkloadReport {
  return { kind, name, score, pods, addends, findings };
}

/** As many from the front as there is room for. */
function fitting<T>(items: readonly T[], most: number): T[] {
  let bytes = 0;
  const tooLong = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return bytes > most;
  });
  return items.slice(0, Math.min(mostItems, tooLong < 0 ? mostItems : tooLong));
}

function weakestFirst(a: NodeReport, b: NodeReport): number {
  return Number(a.enforcing) - Number(b.enforcing) || b.tier - a.tier || compare(a.name, b.name);
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

const byName = (a: Named, b: Named): number => compare(a.kind, b.kind) || compare(a.name, b.name);

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
