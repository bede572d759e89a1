import { type Destination, parseAddress } from '../../cluster/egress/address.ts';
import { type CiliumPolicy, ciliumPolicies } from '../../cluster/egress/cilium-policies.ts';
import type { AddressAndPort, EgressFacts, NetworkPolicy } from '../../cluster/egress/contract.ts';
import { egressPolicies } from '../../cluster/egress/policies.ts';
import { unionOf, urlsOfPod, urlsOfSpec, type Wanted } from '../../cluster/egress/wanted.ts';
import { wideningPolicies } from '../../cluster/egress/widening.ts';
import { createSelection } from '../../cluster/injection/protected-pods.ts';
import { type KubeClient, KubeError } from '../../cluster/kube/client.ts';
import { gatherFacts } from '../../cluster/kube/gather-facts.ts';
import { protectedLabel } from '../../cluster/kube/labels.ts';
import {
  createNameBook,
  type NameBook,
  type NameResolver,
  systemResolver,
} from '../../cluster/kube/name-book.ts';
import {
  clusterEnvironment,
  type Environment,
  type NamespaceObjects,
  namedEnvironment,
  unevaluated,
} from './environment.ts';
import type { NetpolSettings } from './settings.ts';

export interface Generated {
  /** By namespace, with the policy for all protected pods first. */
  readonly policies: readonly (NetworkPolicy | CiliumPolicy)[];
  readonly warnings: readonly string[];
  readonly findings: readonly PolicyConflict[];
}

export interface GenerateOptions {
  readonly settings: NetpolSettings;
  /** Undefined without a cluster. */
  readonly client: KubeClient | undefined;
  readonly resolver?: NameResolver;
  readonly onProgress?: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Reads everything before it returns any policy. @throws SvcError */
export async function generatePolicies(options: GenerateOptions): Promise<Generated> {
  try {
    return await generate(options);
  } catch (error) {
    throw error instanceof KubeError ? unevaluated([error]) : error;
  }
}

async function generate(options: GenerateOptions): Promise<Generated> {
  const { settings, signal, onProgress = () => {} } = options;
  const early: string[] = [];
  const lookUps = lookUpOnce((text) => early.push(text), options.resolver);
  const environment = await environmentOf(options, settings.flavor === 'cilium' ? noLookUps : lookUps);
  const warnings = createWarnings([...environment.namespaces.keys()]);
  const servers = await givenApiServers(settings, lookUps, warnings.add, signal);
  const policies: (NetworkPolicy | CiliumPolicy)[] = [];
  const findings: PolicyConflict[] = [];
  for (const [namespace, content] of environment.namespaces) {
    onProgress(`Finding out where ${namespace} connects to …`);
    const wanted = wantedFor(content, settings);
    const facts = withGiven(
      await gatherFacts(namespace, wanted, environment.addresses, signal),
      servers,
      settings.dns,
    );
    const kubernetes = egressPolicies(facts);
    const made = settings.flavor === 'cilium' ? ciliumPolicies(facts) : kubernetes;
    policies.push(...made.policies);
    for (const text of made.warnings) warnings.add(text, namespace);
    findings.push(...findingsOf(namespace, content, kubernetes.policies));
  }
  for (const text of [...environment.warnings, ...early]) warnings.add(text);
  if (environment.namespaces.size === 0) warnNothing(warnings);
  return { policies, warnings: warnings.lines(), findings };
}

function environmentOf(
  { settings, client, signal, onProgress }: GenerateOptions,
  names: ReturnType<typeof lookUpOnce>,
): Promise<Environment> | Environment {
  if (client === undefined) {
    const why = settings.noCluster
      ? 'no cluster is used'
      : 'no cluster is known here: neither KUBECONFIG nor ~/.kube/config names one';
    return namedEnvironment(settings, names, why);
  }
  onProgress?.(`Reading protected pods and ServiceConfigs from ${client.server} …`);
  return clusterEnvironment(client, settings, names, signal);
}

function warnNothing(warnings: Warnings): void {
  warnings.add(
    'No namespace has protected pods or ServiceConfigs; there is nothing to write: name one with --namespace',
  );
}

/** Looks each name up once. @param warn called for names whose addresses may be incomplete */
function lookUpOnce(warn: (text: string) => void, resolver: NameResolver = systemResolver()): NameBook {
  return createNameBook({
    now: () => 0,
    async resolver(host, signal) {
      const answer = await resolver(host, signal);
      if (answer.failed) warn(`DNS did not answer every query for ${host}; addresses may be missing`);
      return answer;
    },
  });
}

/** For policies that use names instead of addresses. */
const noLookUps: NameBook = {
  addressesOf: async () => [],
  isPending: () => false,
  unseenMs: () => 0,
  remember: () => {},
  isFull: () => false,
};

type Given = Pick<NetpolSettings, 'vaultAddress' | 'store' | 'storeCidr' | 'allow'>;

/** The destinations of a namespace's pods, determined as in the operator, plus those given by flags. */
function wantedFor({ pods, configs }: NamespaceObjects, given: Given): Wanted {
  const vaultAddress = given.vaultAddress?.href;
  const configOf = createSelection(configs);
  const urls = [
    ...configs.map(({ spec }) => urlsOfSpec(spec, vaultAddress)),
    ...pods.map((pod) => urlsOfPod(pod, configOf, vaultAddress)),
  ];
  // without protected pods or ServiceConfigs: policies for future pods
  const known = urls.length > 0 ? urls : [urlsOfSpec({}, vaultAddress)];
  const { vaults, stores, storeBlocks, extra, warnings } = unionOf(known, configs);
  return {
    vaults,
    stores: new Set([...stores, ...(given.store ?? []).map(({ href }) => href)]),
    storeBlocks: [...storeBlocks, ...(given.storeCidr ?? [])],
    extra: [...extra, ...(given.allow ?? [])],
    warnings,
  };
}

/** Limit of namespaces that a warning names. */
const most = 5;

/** Collects warnings of many namespaces, each once, sorted. */
interface Warnings {
  /** @param namespace undefined for a warning about no particular namespace */
  add(text: string, namespace?: string): void;
  lines(): string[];
}

/** @param namespaces all namespaces: a warning that concerns all of them does not list them */
function createWarnings(namespaces: readonly string[]): Warnings {
  const known = new Map<string, Set<string>>();
  return {
    add(text, namespace) {
      const where = known.get(text) ?? new Set();
      if (namespace !== undefined) where.add(namespace);
      known.set(text, where);
    },
    lines() {
      return [...known].map(([text, where]) => `${text}${suffix([...where].sort(), namespaces)}`).sort();
    },
  };
}

function suffix(where: readonly string[], all: readonly string[]): string {
  if (where.length === 0 || where.length === all.length) return '';
  const rest = where.length > most ? ` and ${where.length - most} more` : '';
  return ` (in ${where.slice(0, most).join(', ')}${rest})`;
}

type Warn = (text: string) => void;

/** Addresses of the API servers given on the command line. */
async function givenApiServers(
  { apiServer = [] }: Pick<NetpolSettings, 'apiServer'>,
  names: NameBook,
  warn: Warn,
  signal: AbortSignal,
): Promise<AddressAndPort[]> {
  const found = await Promise.all(apiServer.map((each) => addressesOf(each, names, warn, signal)));
  return found.flat();
}

async function addressesOf({ host, port }: Destination, names: NameBook, warn: Warn, signal: AbortSignal) {
  if (parseAddress(host) !== undefined) return [{ address: host, port }];
  const addresses = await names.addressesOf(host, signal);
  if (addresses.length === 0) warn(`API server ${host} has no known address; it cannot be reached`);
  else warn(`API server ${host} is allowed by its current addresses, which can change`);
  return addresses.map((address) => ({ address, port }));
}

/** The facts plus what flags give. */
function withGiven(
  facts: EgressFacts,
  apiServers: readonly AddressAndPort[],
  dns: readonly string[] = [],
): EgressFacts {
  return {
    ...facts,
    apiServer: [...facts.apiServer, ...apiServers],
    dns: { ...facts.dns, addresses: [...facts.dns.addresses, ...dns] },
  };
}

/** A policy of somebody else that conflicts with ours. */
export interface PolicyConflict {
  readonly namespace: string;
  readonly policy: string;
  /** `widens`: lets protected pods reach more; `replaced`: has the name of a policy of ours. */
  readonly kind: 'widens' | 'replaced';
  readonly message: string;
}

/** @param ours from `egressPolicies` */
function findingsOf(
  namespace: string,
  { pods, policies }: NamespaceObjects,
  ours: readonly NetworkPolicy[],
): PolicyConflict[] {
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  const others = policies.filter((each) => !(each.ours && names.has(each.name)));
  const labels =
    pods.length > 0 ? pods.map(({ metadata }) => metadata.labels ?? {}) : [{ [protectedLabel]: 'true' }];
  const replaced = others.filter(({ name }) => names.has(name)).map(({ name }) => name);
  const distinct = others.filter(({ name }) => !names.has(name));
  return [
    ...wideningPolicies({ ours, others: distinct, pods: labels }).map((policy) => ({
      ...{ namespace, policy, kind: 'widens' as const },
      message: `NetworkPolicy ${namespace}/${policy} lets protected pods reach more than these policies do: narrow its podSelector or its rules`,
    })),
    ...replaced.sort().map((policy) => ({
      ...{ namespace, policy, kind: 'replaced' as const },
      message: `NetworkPolicy ${namespace}/${policy} is not from svc: applying these policies replaces it`,
    })),
  ];
}
