import type { Container, EnvironmentVariable, Pod } from '../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { expand } from './expand.ts';
import { serviceVariables } from './service-variables.ts';

type Data = Readonly<Record<string, string>>;
type Known = Map<string, string>;

/**
 * The variables of a container. What `envFrom` gives is there before `env`, which is read in its order; variables of
 * Services can be referred to, and lose against both.
 * Source: kubernetes/pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables
 */
export async function environmentOf(kube: Kubernetes, pod: Pod, container: Container): Promise<Known> {
  const services = await serviceVariables(kube, pod);
  const own: Known = new Map();
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? await configMap(kube, pod, configMapRef.name)
      : await secret(kube, pod, secretRef?.name);
    for (const [name, value] of Object.entries(data)) own.set(prefix + name, value);
  }
  for (const variable of container.env ?? []) {
    const value = await readVariable(kube, pod, variable, new Map([...services, ...own]));
    if (value !== undefined) own.set(variable.name, value);
  }
  return new Map([...services, ...own]);
}

async function readVariable(
  kube: Kubernetes,
  pod: Pod,
  { name, value = '', valueFrom }: EnvironmentVariable,
  known: Known,
): Promise<string | undefined> {
  if (value !== '') return expand(value, known);
  if (valueFrom === undefined) return '';
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef) return fieldOf(pod, fieldRef.fieldPath);
  const from = secretKeyRef ?? configMapKeyRef;
  if (from === undefined) throw new Error(`${name}: this kubelet does not know such a source`);
  const data = secretKeyRef ? await secret(kube, pod, from.name) : await configMap(kube, pod, from.name);
  if (data[from.key] === undefined && !from.optional) throw new Error(`${name}: there is no ${from.key}`);
  return data[from.key];
}

/** As the downward API has it. */
export function fieldOf({ metadata, spec, status = {} }: Pod, path: string): string {
  const [, kind, key = ''] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path) ?? [];
  if (kind !== undefined) return metadata[kind as 'labels' | 'annotations']?.[key] ?? '';
  const fields: Record<string, string | undefined> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'spec.nodeName': spec.nodeName,
    'spec.serviceAccountName': spec.serviceAccountName,
    'status.podIP': status.podIP,
  };
  const value = fields[path];
  if (value === undefined) throw new Error(`this kubelet does not know the field ${path}`);
  return value;
}

async function configMap(kube: Kubernetes, { metadata }: Pod, name = ''): Promise<Data> {
  const object = await kube.must('GET', `/api/v1/namespaces/${metadata.namespace}/configmaps/${name}`);
  return object.data ?? {};
}

async function secret(kube: Kubernetes, { metadata }: Pod, name = ''): Promise<Data> {
  const { data } = await kube.must('GET', `/api/v1/namespaces/${metadata.namespace}/secrets/${name}`);
  return Object.fromEntries(
    Object.entries(data as Data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}
