import { parseAddress, plainHost, serviceOfHost } from '../../cluster/egress/address.ts';
import type { ObservedPolicy } from '../../cluster/egress/widening.ts';
import { type CreatedConfig, isExempt } from '../../cluster/injection/protected-pods.ts';
import {
  hasCode,
  isTrustOrLogin,
  type KubeClient,
  KubeError,
  type KubeObject,
  unless,
} from '../../cluster/kube/client.ts';
import { type ClusterAddresses, createClusterAddresses } from '../../cluster/kube/cluster-addresses.ts';
import { protectedLabel } from '../../cluster/kube/labels.ts';
import { collectAll, type Selection } from '../../cluster/kube/list.ts';
import type { NameBook } from '../../cluster/kube/name-book.ts';
import type { Pod } from '../../cluster/kube/pod.ts';
import {
  createIntern,
  type PodObject,
  type PolicyObject,
  projectPod,
  projectPolicy,
} from '../../cluster/kube/project-objects.ts';
import { apiVersion, type ServiceConfigSpec } from '../../cluster/resources/resources.ts';
import { SvcError } from '../../runtime/errors.ts';
import { invalidConfig } from '../../runtime/settings/resolve.ts';
import type { NetpolSettings } from './settings.ts';

/** The source of policies: a cluster, or the command line alone. */
export interface Environment {
  /** Sorted by name. */
  readonly namespaces: ReadonlyMap<string, NamespaceObjects>;
  readonly addresses: ClusterAddresses;
  readonly warnings: readonly string[];
}

const operatorNamespace = 'svc-system';

/** @throws SvcError naming missing permissions, or that the API server cannot be reached */
export async function clusterEnvironment(
  client: KubeClient,
  { namespace }: NetpolSettings,
  names: NameBook,
  signal: AbortSignal,
): Promise<Environment> {
  const { namespaces, warnings } = await readContent(client, namespace && [...new Set(namespace)], signal);
  const wanted = [...namespaces].filter(
    ([name]) => namespace !== undefined || !isExempt(name, operatorNamespace),
  );
  const addresses = createClusterAddresses({ client, names, now: () => 0 });
  return { namespaces: new Map(wanted), addresses, warnings };
}

/** @throws SvcError CONFIG_INVALID unless namespaces and the secrets server are given */
export function namedEnvironment(
  { namespace, vaultAddress }: NetpolSettings,
  names: NameBook,
  noCluster: string,
): Environment {
  const errors = [
    ...(namespace === undefined ? [`--namespace: required, since ${noCluster}`] : []),
    ...(vaultAddress === undefined ? [`--vault-address: required, since ${noCluster}`] : []),
  ];
  if (errors.length > 0) throw invalidConfig(errors);
  const sorted = [...new Set(namespace)].sort();
  return {
    namespaces: new Map(sorted.map((name) => [name, emptyContent])),
    addresses: namedAddresses(names),
    warnings: [],
  };
}

/** Addresses that can be known without a cluster; those of its Services and API servers cannot. */
function namedAddresses(names: NameBook): ClusterAddresses {
  const addressesOf = async (given: string, namespace: string, signal: AbortSignal) => {
    const host = plainHost(given);
    if (isAddress(host) || isService(host, namespace)) return [];
    return names.addressesOf(host, signal);
  };
  return {
    isFull: () => false,
    async endpointOf({ host, port }, namespace, signal) {
      const addresses = await addressesOf(host, namespace, signal);
      return { kind: 'external', host: plainHost(host), addresses, port };
    },
    async extraOf(extra, namespace, signal) {
      if (extra.host === undefined) return extra;
      return { ...extra, addresses: await addressesOf(extra.host, namespace, signal) };
    },
    apiServer: async () => [],
    dns: async () => ({ service: undefined, addresses: [] }),
  };
}

function isAddress(host: string): boolean {
  return parseAddress(host.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

/** Whether the host is a Service, which this machine's DNS would not resolve correctly. */
function isService(host: string, namespace: string): boolean {
  return !host.includes('.') || serviceOfHost(host, namespace)?.certain === true;
}

export interface ReadContent {
  /** Sorted by name; without a selection, the namespaces with something protected. */
  readonly namespaces: ReadonlyMap<string, NamespaceObjects>;
  readonly warnings: readonly string[];
}

/**
 * Reads protected pods, ServiceConfigs and all network policies.
 * @param only namespaces to read; undefined for all
 * @throws SvcError naming every missing permission, or that the API server cannot be reached
 */
async function readContent(
  client: KubeClient,
  only: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<ReadContent> {
  const read = <O extends InNamespace>(list: List<O>) => inEach(list, client, only, signal);
  const [pods, configs, policies] = await Promise.all([
    read(listProtectedPods),
    read(listConfigs),
    read(listPolicies),
  ]);
  // our policies do not depend on others', so a denial for those is only a warning
  const unseen = policies.failures.filter(isDenial);
  const failures = [...pods.failures, ...configs.failures, ...policies.failures.filter((e) => !isDenial(e))];
  if (failures.length > 0) throw unevaluated(failures);
  const names = [...pods.objects, ...configs.objects].map(({ metadata }) => metadata.namespace ?? '');
  const all = [...new Set([...names, ...(only ?? [])])].sort();
  const contentOf = (name: string): NamespaceObjects => ({
    pods: pods.by.get(name) ?? [],
    configs: (configs.by.get(name) ?? []).map(asConfig),
    policies: (policies.by.get(name) ?? []).map(projectPolicy),
  });
  return {
    namespaces: new Map(all.map((name) => [name, contentOf(name)])),
    warnings: unseen.map(({ message }) => `Cannot tell whether other policies widen the egress: ${message}`),
  };
}

interface InNamespace {
  readonly metadata: { readonly namespace?: string };
}

interface Listed<O> {
  readonly objects: readonly O[];
  readonly by: ReadonlyMap<string, readonly O[]>;
  readonly failures: readonly Error[];
}

async function inEach<O extends InNamespace>(
  list: List<O>,
  client: KubeClient,
  only: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Listed<O>> {
  const objects: O[] = [];
  const failures: Error[] = [];
  for (const namespace of only ?? [undefined]) {
    try {
      objects.push(...(await list(client, namespace, signal)));
    } catch (error) {
      failures.push(error as Error);
      if (!isDenial(error)) break;
    }
  }
  return { objects, failures, by: Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '') };
}

function asConfig({ metadata, spec }: ConfigObject) {
  return { name: metadata.name, created: metadata.creationTimestamp ?? '', spec };
}

type ConfigObject = KubeObject & {
  readonly metadata: { readonly creationTimestamp?: string };
  readonly spec: ServiceConfigSpec;
};

/** Lists objects of a namespace, or of all of them. @throws KubeError */
type List<T> = (client: KubeClient, namespace: string | undefined, signal: AbortSignal) => Promise<T[]>;

/** Projected like the operator's copy. */
const listProtectedPods: List<Pod> = (client, namespace, signal) => {
  const intern = createIntern();
  const list = listOf('/api/v1', 'pods', {
    labelSelector: `${protectedLabel}=true`,
    keep: (object: PodObject) => projectPod(object, intern).pod,
  });
  return list(client, namespace, signal);
};

const listPolicies: List<PolicyObject> = listOf('/apis/networking.k8s.io/v1', 'networkpolicies', {
  keep: whole<PolicyObject>,
});

const listInstalled: List<ConfigObject> = listOf(`/apis/${apiVersion}`, 'serviceconfigs', {
  keep: whole<ConfigObject>,
});

/** Empty in a cluster without this custom resource. */
const listConfigs: List<ConfigObject> = async (...args) =>
  (await unless(listInstalled(...args), 'KUBE_NOT_FOUND')) ?? [];

function whole<O>(object: O): O {
  return object;
}

interface Listing<O, T> extends Omit<Selection, 'path'> {
  /** The part to keep of each object. */
  readonly keep: (object: O) => T;
}

function listOf<O extends KubeObject, T>(
  api: string,
  plural: string,
  { keep, ...selection }: Listing<O, T>,
): List<T> {
  return (client, namespace, signal) => {
    const place = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
    return collectAll<O, T>(client, { path: `${api}${place}/${plural}`, ...selection }, keep, signal);
  };
}

function isDenial(error: unknown): error is KubeError {
  return hasCode(error, 'KUBE_DENIED');
}

/** One error for all failures: any other failure first, otherwise every missing permission. */
export function unevaluated(failures: readonly Error[]): Error {
  const other = failures.find((error) => !isDenial(error));
  if (other !== undefined)
    return other instanceof KubeError && !isTrustOrLogin(other) ? unreachable(other) : other;
  const [cause] = failures;
  return new SvcError('KUBE_DENIED', 'Some objects that the policies depend on cannot be read', {
    ...{ cause, details: [...new Set(failures.map(({ message }) => message))].sort() },
    nextStep:
      'Ask for the permissions named above, name namespaces that you may read with --namespace, or use --no-cluster.',
  });
}

function unreachable(error: KubeError): Error {
  return new SvcError(error.code, error.message, {
    cause: error,
    nextStep: 'Check KUBECONFIG and that the API server can be reached from here, or use --no-cluster.',
  });
}

/** A network policy, and whether the operator maintains it. */
export type SeenPolicy = ObservedPolicy & { readonly ours: boolean };

/** A namespace's objects that matter for its egress policies; of pods, the protected ones. */
export interface NamespaceObjects {
  readonly pods: readonly Pod[];
  readonly configs: readonly CreatedConfig[];
  readonly policies: readonly SeenPolicy[];
}

const emptyContent: NamespaceObjects = { pods: [], configs: [], policies: [] };
