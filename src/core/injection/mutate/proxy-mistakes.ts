import type { Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { chosenContainers } from './chosen.ts';
import { proxyPort, takenPorts } from './ports.ts';
import { cloudIdentity } from './proxy-identity.ts';

/** What keeps the proxy from working in this pod. */
export function proxyMistakes(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (!plan.proxy?.enabled) return [];
  const { variables } = cloudIdentity(chosenContainers(pod, plan), false);
  const portFree = !takenPorts(pod).has(proxyPort);
  const knowsStore = plan.proxy.upstream !== undefined || variables.length > 0;
  return [
    ...(portFree
      ? []
      : [`svc/s3-proxy: the proxy listens on ${proxyPort}, and a container of the pod uses that port`]),
    ...(knowsStore
      ? []
      : [
          'svc/proxy-upstream: should be the URL of the object store, because no wrapped container has AWS_REGION',
        ]),
  ];
}
