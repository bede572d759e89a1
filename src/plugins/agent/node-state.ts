import { processKey } from '../../core/protection/process-key.ts';
import type { ProtectionReport } from '../../core/protection/report.ts';
import type { Guard, ProtectedProcess } from './guard/contract.ts';
import type { NodeState, ReportedPod, ReportedProcess } from './operator/contract.ts';
import type { PodWatch } from './pods/start-pod-watch.ts';
import type { Registration } from './registration/start-registration.ts';

type PodOf = (process: ProtectedProcess) => string | undefined;

/** What the operator is told of this node, put together when it is asked for. */
export function createNodeState(
  { enforce }: { readonly enforce: boolean },
  guard: Guard,
  registration: Pick<Registration, 'registered' | 'reports'>,
  pods: Pick<PodWatch, 'labelled' | 'crowded' | 'resolver'>,
): () => NodeState {
  const remembering = rememberPods(({ pid }) => pods.resolver.podOfProcess(pid));
  return () => {
    const processes = guard.processes();
    return {
      ...guard.status,
      enforceMode: enforce,
      pods: reportedPods({
        processes,
        registered: registration.registered(),
        reports: registration.reports(),
        labelled: pods.labelled(),
        crowded: pods.crowded(),
        podOf: remembering(processes),
      }),
    };
  };
}

/** A process stays in its pod: its cgroup is read once, not whenever the state of thousands is told. */
export function rememberPods(find: PodOf): (processes: readonly ProtectedProcess[]) => PodOf {
  let known = new Map<string, string | undefined>();
  return (processes) => {
    const before = known;
    known = new Map(
      processes.map((process) => {
        const key = processKey(process);
        return [key, before.has(key) ? before.get(key) : find(process)];
      }),
    );
    return (process) => known.get(processKey(process));
  };
}

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
