import { capped } from '../../cluster/capped.ts';
import { type Unsupported, unsupportedKind } from '../../cluster/node-kinds.ts';
import { nodesOf } from '../../cluster/nodes.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { verdict } from '../../results.ts';

const reasons: Readonly<Record<Unsupported, string>> = {
  Autopilot: 'It is of an Autopilot cluster, which admits no privileged agent.',
  Fargate: 'It is a Fargate node, on which no DaemonSet runs.',
  virtual: 'It is a virtual node, which has no kernel that an agent could guard.',
};

export const nodeTypes: Check = {
  ...{ id: 'SVC-CLUSTER-003', area: 'cluster', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'No node is of an unsupported type (Autopilot, Fargate, virtual)',
  cause:
    'The provider runs these nodes without letting a privileged DaemonSet on them, so that nothing keeps other processes from reading what a protected pod holds. It is an error where a protected pod runs there, and on Autopilot.',
  fix: 'Run protected workloads on ordinary node pools: use a node selector or a taint, on GKE a Standard cluster.',
  async run(context) {
    const [nodes, { labelled }] = await Promise.all([nodesOf(context), protectedPodsOf(context)]);
    const used = Map.groupBy(labelled, ({ node }) => node);
    const failures = nodes.flatMap((node) => {
      const kind = unsupportedKind(node);
      if (kind === undefined) return [];
      const [pod] = used.get(node.name) ?? [];
      const runs = pod === undefined ? '' : ` The protected pod ${pod.key} runs there.`;
      const level = pod !== undefined || kind === 'Autopilot' ? 'error' : 'warning';
      return [{ subject: node.name, message: reasons[kind] + runs, level } as const];
    });
    return verdict(capped(failures));
  },
};
