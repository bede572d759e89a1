import { processKey } from '../../core/protection/process-key.ts';
import type { Guard, ProtectedProcess } from './guard/contract.ts';
import type { NodeState } from './operator/contract.ts';
import { reportedPods } from './operator/reported-pods.ts';
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
