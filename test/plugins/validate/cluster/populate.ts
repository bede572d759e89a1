import { injectedSpec } from '../../../support/injected-pod.ts';
import type { Kubernetes } from '../../../support/kubernetes.ts';

export const node = 'node-1';
export const vault = 'https://192.0.2.7:8200';

const nodeInfo = {
  ...{ machineID: '', systemUUID: '', bootID: '', osImage: '', containerRuntimeVersion: '' },
  ...{ kernelVersion: '6.1.0-28-amd64', kubeletVersion: '', kubeProxyVersion: '' },
  ...{ operatingSystem: 'linux', architecture: 'amd64' },
};

/** A node, and the counts that the controllers of a whole cluster would write. */
export async function populate(kube: Kubernetes): Promise<void> {
  await kube.must('POST', '/api/v1/nodes', { metadata: { name: node } });
  await kube.must('PATCH', `/api/v1/nodes/${node}/status`, { status: { nodeInfo } });
  await kube.createServiceAccount({ namespace: 'default', name: 'default' });
  const apps = '/apis/apps/v1/namespaces/svc-system';
  const counted = { replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  await kube.must('PATCH', `${apps}/deployments/svc-operator/status`, { status: counted });
  const spread = {
    ...{ currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0 },
    ...{ numberReady: 1, updatedNumberScheduled: 1 },
  };
  await kube.must('PATCH', `${apps}/daemonsets/svc-ebpf/status`, { status: spread });
}

export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
  /** Where the API server finds it. */
  readonly address: string;
}

/** Creates a pod, and says of it what a kubelet would. */
export async function runPod(kube: Kubernetes, pod: RunningPod): Promise<void> {
  const { namespace, name, labels = {}, annotations = {}, spec, address } = pod;
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await kube.createServiceAccount({ namespace, name: 'default' });
  await kube.must('POST', path, {
    metadata: { name, labels, annotations },
    spec: { nodeName: node, ...spec },
  });
  await kube.must('PATCH', `${path}/${name}/status`, {
    status: {
      ...{ phase: 'Running', podIP: address, podIPs: [{ ip: address }] },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
}

/** A pod of the chart that answers on one port. */
export const chartPod = (
  app: string,
  name: string,
  address: string,
  portName: string,
  containerPort: number,
) => ({
  ...{ namespace: 'svc-system', name, address, labels: { 'app.kubernetes.io/name': app } },
  spec: {
    serviceAccountName: app,
    containers: [{ name: app, image: 'svc:1', ports: [{ name: portName, containerPort }] }],
  },
});

/** A pod as the webhook leaves it, which it is kept from changing, and whose wrapper answers on that port. */
export function wrappedPod(namespace: string, name: string, address: string, port: number): RunningPod {
  const spec = injectedSpec({ vault });
  const [main] = spec.containers;
  const env = [...(main?.env ?? []), { name: 'HEALTH_ADDR', value: `:${port}` }];
  return {
    ...{
      namespace,
      name,
      address,
      labels: { 'svc/protected': 'true' },
      annotations: { 'svc/inject': 'false' },
    },
    spec: { ...spec, containers: [{ ...main, env }] },
  };
}
