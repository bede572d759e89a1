import { type Helm, helm, type Manifest } from '../../support/helm.ts';
import { type Kubernetes, type KubernetesOptions, startKubernetes } from '../../support/kubernetes.ts';
import { APPLY } from '../../support/kubernetes-apply.ts';

export interface Cluster {
  readonly helm: Helm;
  readonly kubernetes: Kubernetes;
}

/** A cluster with the namespace of svc and the kinds of the Prometheus operator, and Helm. */
export async function startCluster(options?: KubernetesOptions): Promise<Cluster> {
  const kubernetes = await startKubernetes(options);
  const tool = await helm().catch(async (error) => {
    await kubernetes.stop();
    throw error;
  });
  await kubernetes.apply(namespace('svc-system', 'privileged'), ...MONITORING);
  return { helm: tool, kubernetes };
}

export async function stopCluster({ helm, kubernetes }: Partial<Cluster>): Promise<void> {
  await kubernetes?.stop();
  await helm?.remove();
}

/** With the Pod Security level that it enforces. */
export function namespace(name: string, level: string): object {
  const labels = { 'pod-security.kubernetes.io/enforce': level };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

/** The kinds of the Prometheus operator, of any content. */
const MONITORING = ['PrometheusRule', 'ServiceMonitor', 'PodMonitor'].map((kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      ...{ group: 'monitoring.coreos.com', scope: 'Namespaced' },
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
});

/** What the API server finds wrong with the objects, nothing being written; fields that nobody knows are wrong. */
export async function complaints(kubernetes: Kubernetes, all: readonly Manifest[]): Promise<string> {
  const found = all.map(async (object) => {
    const path = `${await kubernetes.applyPath(object)}&dryRun=All`;
    const { status, headers, text } = await kubernetes.request('PATCH', path, object, APPLY);
    return status < 300 ? (headers['warning'] ?? '') : text;
  });
  return (await Promise.all(found)).join('');
}

/** The same of text, by kubectl. */
export async function complaintsOfText(kubernetes: Kubernetes, text: string): Promise<string> {
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
  const { status, stderr } = await kubernetes.kubectl(args, text);
  return status === 0 && !/warning/i.test(stderr) ? '' : stderr || `status ${status}`;
}
