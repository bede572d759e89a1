import { counted } from '../../../../core/counted.ts';
import { isAtLeast } from '../../../../runtime/kube/server-version.ts';
import { capped } from '../../cluster/capped.ts';
import type { SeenNode } from '../../cluster/nodes.ts';
import { nodesOf } from '../../cluster/nodes.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { skipped, verdict, verdictOnPart } from '../../results.ts';
import { kernelVersion } from './kernel-version.ts';

export const nodeKernels: Check = {
  ...{ id: 'SVC-CLUSTER-002', area: 'cluster', level: 'error', needs: 'cluster' },
  title: 'Every Linux node has kernel 5.15 or later',
  cause:
    'memfd_secret, which keeps secrets out of reach of root, begins with Linux 5.14; what is tested and supported begins with 5.15.',
  fix: 'Upgrade the image of the node pool, or keep protected pods off these nodes.',
  async run(context) {
    const nodes = (await nodesOf(context)).filter(({ os }) => os === 'linux');
    if (nodes.length === 0) return skipped('There are no Linux nodes');
    const silent = nodes.filter(({ kernel }) => kernelVersion(kernel) === undefined);
    const failures = capped(nodes.flatMap(failuresOf));
    if (silent.length === 0) return verdict(failures, counted(nodes.length, 'node'));
    const reason = `The kernels of these nodes are not told: ${listed(silent)}`;
    return verdictOnPart(failures, reason);
  },
};

function failuresOf({ name, kernel }: SeenNode): readonly CheckFailure[] {
  const version = kernelVersion(kernel);
  if (version === undefined || isAtLeast(version, 5, 15)) return [];
  const old = !isAtLeast(version, 5, 14);
  const message = `Its kernel is ${kernel}, ${old ? 'which has no memfd_secret' : 'older than 5.15, which is supported'}.`;
  return [{ subject: name, message, level: old ? 'error' : 'warning' }];
}

function listed(nodes: readonly SeenNode[]): string {
  const names = nodes.slice(0, 10).map(({ name }) => name);
  return nodes.length > 10 ? `${names.join(', ')} and ${nodes.length - 10} more` : names.join(', ');
}
