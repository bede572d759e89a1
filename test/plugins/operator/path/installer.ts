import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import { type Manifest, manifest } from '../../../support/helm.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import type { World } from './world.ts';

/**
 * The chart's agent DaemonSet on the world's node up to where its init container has filled the node's folder. In place of
 * the agent, which needs the whole machine, there is a program that ends.
 * @throws Error with its output where the init container fails
 */
export async function installWrapper(world: World, name: string, image?: string): Promise<PodRun> {
  const { spec } = manifest(world.cluster.manifests, 'DaemonSet', 'svc-ebpf').spec.template as Manifest;
  const [given] = spec.initContainers as readonly [Container];
  const mounted = new Set(given.volumeMounts?.map((mount) => mount.name));
  const stand = { name: 'agent', image: 'registry.example/app:1', command: ['/bin/busybox', 'true'] };
  const pod: Pod = {
    metadata: { name, namespace: 'svc-system' },
    spec: {
      initContainers: [{ ...given, ...(image && { image }) }],
      containers: [stand],
      volumes: spec.volumes.filter((volume: { name: string }) => mounted.has(volume.name)),
      securityContext: spec.securityContext,
      serviceAccountName: spec.serviceAccountName,
      automountServiceAccountToken: false,
      restartPolicy: 'Never',
    },
  };
  await world.kube.must('POST', '/api/v1/namespaces/svc-system/pods', {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    ...pod,
  });
  return world.kubelet.run('svc-system', name);
}
