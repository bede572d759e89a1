import { failureOf, type KubeClient, type KubeRequest } from '../../../../src/cluster/kube/client.ts';

export interface FakeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; [member: string]: unknown };
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind are picked apart freely
  [member: string]: any;
}

export interface FakeCluster {
  readonly objects: readonly FakeObject[];
  /** What pods answer through the API server, by `namespace/name:port/path`; a number: with that status. */
  readonly pages?: Readonly<Record<string, string | number>>;
  /** What becomes of a pod in a dry run; a text: the API server's refusal. */
  readonly admit?: (pod: FakeObject) => object | string;
  /** How a pod ends that is created: its exit status. */
  readonly ends?: (pod: FakeObject) => number;
  /** Default: 1.31. */
  readonly version?: { readonly major: string; readonly minor: string };
}

/** A client of a cluster that is made of objects. */
export function fakeClient(cluster: FakeCluster): KubeClient {
  const created = new Map<string, object>();
  const answer = (request: KubeRequest): unknown => {
    const { method = 'GET', path, query, body } = request;
    if (method === 'DELETE') return created.delete(path);
    if (method !== 'POST' || query?.['dryRun'] !== undefined)
      return created.get(path) ?? answerTo(cluster, request);
    const pod = complete(withName(body as FakeObject, `made-${created.size}`));
    const terminated = { exitCode: cluster.ends?.(pod) ?? 0 };
    const made = { ...pod, status: { containerStatuses: [{ state: { terminated } }] } };
    created.set(`${path}/${pod.metadata.name}`, made);
    return made;
  };
  return {
    ...{ server: 'https://fake.example', origin: 'test', close() {} },
    request: async <T>(request: KubeRequest) => structuredClone(answer(request)) as T,
    async read(request, use) {
      const found = answer(request);
      return use(textOf(typeof found === 'string' ? found : JSON.stringify(found)));
    },
    stream: async () => {
      throw new Error('nothing is streamed here');
    },
  };
}

const withName = (object: FakeObject, name: string): FakeObject => ({
  ...object,
  metadata: { ...object.metadata, name },
});

async function* textOf(text: string) {
  yield Buffer.from(text);
}

function answerTo(cluster: FakeCluster, { method = 'GET', path, body }: KubeRequest): unknown {
  if (method === 'POST') return admitted(cluster, path, body as FakeObject);
  if (path === '/version') return cluster.version ?? { major: '1', minor: '31' };
  const [, place, name, rest] =
    /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/proxy\/(.*)$/.exec(path) ?? [];
  if (place !== undefined) return paged(cluster, `${place}/${decodeURIComponent(name ?? '')}/${rest}`);
  const one = cluster.objects.find((object) => pathOf(object) === path);
  if (one !== undefined) return complete(one);
  const items = cluster.objects.filter((object) => collectionsOf(object).includes(path)).map(complete);
  if (items.length === 0 && !isCollection(path)) throw failureOf(`GET ${path}`, 404, '');
  return { metadata: { resourceVersion: '1' }, items };
}

function admitted({ admit = (pod) => pod }: FakeCluster, path: string, pod: FakeObject): unknown {
  const found = admit(pod);
  if (typeof found !== 'string') return found;
  const status = found.includes('failed calling') ? 500 : 403;
  throw failureOf(`POST ${path}`, status, JSON.stringify({ message: found }));
}

function paged({ pages = {} }: FakeCluster, key: string): unknown {
  const page = pages[key];
  const unreached = JSON.stringify({
    message: 'error trying to reach service: dial tcp: connection refused',
  });
  if (page === undefined) throw failureOf(`GET ${key}`, 503, unreached);
  if (typeof page === 'number') throw failureOf(`GET ${key}`, page, '{}');
  return page;
}

const rootOf = (apiVersion: string) => (apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`);
const pluralOf = (kind: string) => `${kind}s`.replace(/ys$/, 'ies').toLowerCase();

function collectionsOf({ apiVersion, kind, metadata: { namespace } }: FakeObject): readonly string[] {
  const all = `${rootOf(apiVersion)}/${pluralOf(kind)}`;
  return namespace === undefined
    ? [all]
    : [all, `${rootOf(apiVersion)}/namespaces/${namespace}/${pluralOf(kind)}`];
}

const pathOf = (object: FakeObject) => `${collectionsOf(object).at(-1)}/${object.metadata.name}`;

/** Whether the path ends with the name of a kind: a list that is empty. */
const isCollection = (path: string) =>
  /\/(nodes|namespaces|[a-z]+s)$/.test(path) && !path.endsWith('/kubernetes');

const complete = (object: FakeObject) => ({
  ...object,
  metadata: { uid: `uid-${object.metadata.name}`, resourceVersion: '1', generation: 1, ...object.metadata },
});
