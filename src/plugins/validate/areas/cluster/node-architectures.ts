import { capped } from '../../cluster/capped.ts';
import { unsupportedKind } from '../../cluster/node-kinds.ts';
import { nodesOf } from '../../cluster/nodes.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { verdict } from '../../results.ts';

const supported = ['linux/amd64', 'linux/arm64'];

export const nodeArchitectures: Check = {
  ...{ id: 'SVC-CLUSTER-004', area: 'cluster', level: 'info', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Wrapper and agent are made for every node (Linux on amd64 or arm64)',
  cause:
    'There are nodes of another operating system or processor. It is an error where a protected pod runs there.',
  fix: 'Keep protected pods off these nodes by a node selector: kubernetes.io/os and kubernetes.io/arch.',
  async run(context) {
    const [nodes, { labelled }] = await Promise.all([nodesOf(context), protectedPodsOf(context)]);
    const used = new Set(labelled.map(({ node }) => node));
    const failures = nodes
      .filter((node) => unsupportedKind(node) === undefined)
      .map((node) => ({ ...node, platform: `${node.os}/${node.architecture || 'not told'}` }))
      .filter(({ platform }) => !supported.includes(platform))
      .map(({ name, platform }) => {
        const level = used.has(name) ? ('error' as const) : ('info' as const);
        return { subject: name, message: `It is ${platform}.`, level };
      });
    return verdict(capped(failures));
  },
};
