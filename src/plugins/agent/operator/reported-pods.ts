import { processKey } from '../../../core/protection/process-key.ts';
import type { ProtectionReport } from '../../../core/protection/report.ts';
import type { ProtectedProcess } from '../guard/contract.ts';
import type { ReportedPod, ReportedProcess } from './contract.ts';

export interface PodSources {
  /** All that are protected, themselves or by their parents. */
  readonly processes: readonly ProtectedProcess[];
  /** Those of them that registered themselves. */
  readonly registered: readonly ProtectedProcess[];
  readonly reports: readonly ProtectionReport[];
  /** The pods on this node that are to be protected by their label. */
  readonly labelled: readonly { readonly uid: string; readonly uncovered: string | undefined }[];
  /** Why not all of a pod's processes are covered, by its UID; labelled or not. */
  readonly crowded: ReadonlyMap<string, string>;
  /** UID of the pod that a process is in. */
  readonly podOf: (process: ProtectedProcess) => string | undefined;
}

/** Groups by pod, labelled pods without a listed process included; wrappers come before what they started. */
export function reportedPods(sources: PodSources): ReportedPod[] {
  const { processes, registered, reports, labelled, crowded, podOf } = sources;
  const own = new Set(registered.map(processKey));
  const reportOf = new Map(reports.map((report) => [processKey(report), report]));
  const labels = new Map(labelled.map((pod) => [pod.uid, pod]));
  const byPod = new Map<string, ReportedProcess[]>(labelled.map(({ uid }) => [uid, []]));
  for (const process of processes) {
    const uid = podOf(process) ?? '';
    const registration = own.has(processKey(process)) ? 'wrapper' : 'inherited';
    const reported = { ...process, registration, measured: reportOf.get(processKey(process)) } as const;
    const inside = byPod.get(uid);
    if (inside === undefined) byPod.set(uid, [reported]);
    else inside.push(reported);
  }
  return [...byPod].map(([uid, inside]) => {
    const label = labels.get(uid);
    const uncoveredReason = label?.uncovered ?? crowded.get(uid) ?? '';
    return {
      ...{ uid, labelled: label !== undefined, uncoveredReason },
      covered: label !== undefined && uncoveredReason === '',
      processes: inside.sort(wrappersFirst),
    };
  });
}

function wrappersFirst(a: ReportedProcess, b: ReportedProcess): number {
  return Number(b.registration === 'wrapper') - Number(a.registration === 'wrapper');
}
