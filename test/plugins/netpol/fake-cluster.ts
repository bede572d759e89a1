import { type KubeClient, KubeError, type KubeRequest } from '../../../src/cluster/kube/client.ts';
import { fakeClient } from '../../support/fake-client.ts';

type Labels = Readonly<Record<string, string>>;

/** An object as it is sent; what every object has is added. */
export interface ClusterObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly [member: string]: unknown;
}

/** Objects by collection, such as `/api/v1/pods`. */
export type Objects = Readonly<Record<string, readonly ClusterObject[]>>;

/** An API server that only reads, without a network. @param denied collections that may not be read */
export function fakeCluster(objects: Objects, denied: readonly string[] = []): KubeClient {
  return fakeClient(async <T>(request: KubeRequest) => answer(objects, denied, request) as T);
}

function answer(objects: Objects, denied: readonly string[], { path, query = {} }: KubeRequest): unknown {
  const [, base = '', namespace, plural = '', name] =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const collection = `${base}/${plural}`;
  if (denied.includes(collection))
    throw new KubeError('KUBE_DENIED', `GET ${path}: 403: ${plural} are forbidden`);
  const selected = (objects[collection] ?? [])
    .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    .filter(({ metadata }) => matches(metadata.labels ?? {}, String(query['labelSelector'] ?? '')))
    .map((object) => ({
      ...object,
      metadata: { uid: `${collection}/${object.metadata.name}`, resourceVersion: '1', ...object.metadata },
    }));
  if (name === undefined) return { metadata: { resourceVersion: '1' }, items: selected };
  const found = selected.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new KubeError('KUBE_NOT_FOUND', `GET ${path}: 404`);
  return found;
}

function matches(labels: Labels, selector: string): boolean {
  if (selector === '') return true;
  return selector.split(',').every((each) => {
    const [key = '', value] = each.split('=');
    return labels[key] === value;
  });
}
