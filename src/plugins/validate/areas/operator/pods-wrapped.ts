import { carriesWrapper, wrappedContainers } from '../../../../core/cluster/protected.ts';
import { counted } from '../../../../core/counted.ts';
import { applicationContainers } from '../../../../core/score/containers.ts';
import { capped } from '../../cluster/capped.ts';
import type { SeenPod } from '../../cluster/pods.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const podsWrapped: Check = {
  ...{ id: 'SVC-OPERATOR-015', area: 'operator', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Every pod that asks for protection runs under the wrapper',
  cause:
    'The pod is older than its ServiceConfig or than the operator, or its label was taken off. A container may also be left out by svc/containers, which is a warning.',
  fix: 'Make the pods anew: kubectl rollout restart. Name all containers with secrets in svc/containers, or none.',
  async run(context) {
    const { asking, labelled } = await protectedPodsOf(context);
    const all = [...new Set([...asking, ...labelled])];
    if (all.length === 0) return skipped('No pod asks for protection');
    return verdict(capped(all.flatMap(problemOf)), counted(all.length, 'pod'));
  },
};

function problemOf({ key, pod }: SeenPod): readonly CheckFailure[] {
  const wrapped = wrappedContainers(pod);
  if (wrapped.length === 0) return [{ subject: key, message: 'It runs without the wrapper.' }];
  if (!carriesWrapper(pod)) return [{ subject: key, message: 'Its label svc/protected=true was taken off.' }];
  const bare = applicationContainers(pod).filter((one) => !wrapped.includes(one));
  if (bare.length === 0) return [];
  const names = bare.map(({ name }) => name).join(', ');
  return [
    { subject: key, message: `These containers of it run without the wrapper: ${names}.`, level: 'warning' },
  ];
}
