import type { NodeAgentState, ReportedPod } from '../../../../src/plugins/operator/contract.ts';

const calm = { reason: '', passedOver: [] };

/** What agents tell, as a test says it. */
export function fakeNodes() {
  const states = new Map<string, NodeAgentState>();
  const handles: ((node: string) => void)[] = [];
  const changed = (node: string) => {
    for (const handle of handles) handle(node);
  };
  return {
    agentOf: (node: string) => states.get(node),
    agents: () => states.values(),
    onChange: (handle: (node: string) => void) => void handles.push(handle),
    /** @param pods UIDs of those that it covers by their label */
    tell(node: string, pods: readonly string[], tier = 1, reports: ReportedPod['reports'] = []) {
      const covered = new Map(
        pods.map((uid) => [uid, { covered: true, uncoveredReason: '', processes: 0, reports }]),
      );
      states.set(node, { ...calm, node, tier, enforcing: tier < 4, pods: covered });
      changed(node);
    },
    /** @param uid of a pod of that node that is not covered, or not with all of its processes */
    tellUncovered(node: string, uid: string, uncoveredReason: string, processes = 0) {
      const pods = new Map([[uid, { covered: false, uncoveredReason, processes, reports: [] }]]);
      states.set(node, { ...calm, node, tier: 1, enforcing: true, pods });
      changed(node);
    },
    /** That it is in audit mode on tier 3, and why nothing better. */
    tellLowered(node: string, reason: string, lsm: string) {
      const passedOver = [{ tier: 1, reason: lsm }];
      states.set(node, { node, tier: 3, enforcing: false, reason, passedOver, pods: new Map() });
      changed(node);
    },
    fallSilent(node: string) {
      states.delete(node);
      changed(node);
    },
  };
}

/** Policies that are applied everywhere, until a test says otherwise. */
export function fakeEgress() {
  const handles: ((namespace: string) => void)[] = [];
  return {
    applied: true as boolean | undefined,
    widening: [] as readonly string[],
    onChange: (handle: (namespace: string) => void) => void handles.push(handle),
    /** Says that it has changed in this namespace. */
    change(namespace: string, applied: boolean) {
      this.applied = applied;
      for (const handle of handles) handle(namespace);
    },
    egressPolicyOf(): boolean | undefined {
      return this.applied;
    },
    wideningPoliciesOf(): readonly string[] {
      return this.widening;
    },
  };
}
