import { cut, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { applyRules, outcome, type Rule } from '../../../runtime/settings/resolve.ts';
import { unencrypted } from '../../../runtime/settings/setting.ts';
import { areTooWide, type Block, isTooWide, parseBlock } from '../../egress/address.ts';
import { maxExtra } from '../../egress/contract.ts';
import { type TooLarge, tooLargeError } from '../../kube/known-objects.ts';
import { isLabelled } from '../../kube/labels.ts';
import type { Pod } from '../../kube/pod.ts';
import type { ProxyRequest, SecretMappingSpec, ServiceConfigSpec } from '../../resources/resources.ts';
import type { InjectionDefaults, InjectionPlan, PlannedSecret, Resolution } from '../contract.ts';
import { type CreatedConfig, selectServiceConfig } from '../protected-pods.ts';
import { annotationErrors, annotations, givenAnnotations, optsOut } from './annotations.ts';
import { boundErrors } from './bounds.ts';
import { gatherRequestedSettings, type RequestedSettings, type Wish } from './requested-settings.ts';
import { combineSecrets, listedSecrets, mappedSecrets } from './secrets.ts';

/** Input for a pod's resolution; configs and mappings are those of its namespace. */
export interface ResolveEnvironment {
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly serviceConfigs: readonly CreatedConfig[];
  readonly secretMappings: ReadonlyMap<string, SecretMappingSpec & TooLarge>;
  readonly defaults: InjectionDefaults;
  /** Set if the pod is too large to be read whole, and only its labels and annotations are known. */
  readonly excess?: Excess | undefined;
}

export interface Excess {
  readonly error: string;
  /** Whether it has so many labels that not even those are known. */
  readonly hidesLabels: boolean;
}

/**
 * Resolves what a pod requests by its annotations or by the ServiceConfig that selects it; never throws because of
 * their content.
 */
export function resolveInjection(pod: Pod, surroundings: ResolveEnvironment): Resolution {
  const given = givenAnnotations(pod);
  if (optsOut(given)) return { kind: 'skip', reason: 'it opts out with svc/inject: "false"' };
  const config = selectServiceConfig(pod, surroundings.serviceConfigs);
  const { excess, serviceConfigs } = surroundings;
  const isUnasked = config === undefined && Object.keys(given).length === 0;
  if (isUnasked && !(excess?.hidesLabels && serviceConfigs.length > 0)) return unasked(surroundings);
  if (config?.spec.tooLarge) return { kind: 'deny', errors: [tooLargeError(`ServiceConfig ${config.name}`)] };
  const unbounded = excess === undefined ? boundErrors(pod, given) : [excess.error];
  if (unbounded.length > 0) return { kind: 'deny', errors: unbounded };
  const { wishes, errors } = gatherRequestedSettings(given, config);
  const egress = egressErrors(config, surroundings.serviceConfigs);
  const found = [...refusalsOf(pod), ...annotationErrors(given), ...errors, ...egress];
  return complete({ wishes, defaults: surroundings.defaults, config: config?.name }, surroundings, found);
}

function unasked({ namespace, namespaceLabels }: ResolveEnvironment): Resolution {
  const reason = 'it has no svc/ annotation and no ServiceConfig selects it';
  return isLabelled(namespaceLabels)
    ? { kind: 'skip', reason: `${reason}, although namespace ${namespace} is a protected one` }
    : { kind: 'skip', reason };
}

function complete(asked: Asked, surroundings: ResolveEnvironment, found: readonly string[]): Resolution {
  const { namespace, secretMappings } = surroundings;
  const listed = outcome(() => listedSecrets(asked.wishes));
  const mapped = outcome(() => mappedSecrets(asked.wishes, namespace, secretMappings));
  const combined = combineSecrets([...(listed?.sources ?? []), ...(mapped?.sources ?? [])]);
  const nothingNamed = combined.secrets.every(({ mappings }) => mappings.length === 0);
  const mapOnly = outcome(() => mapOnlyOf(asked));
  const errors = [
    ...found,
    ...(mapOnly?.value === true && nothingNamed
      ? [`${mapOnly.place}: would deliver nothing, because no field is named; set ${annotations.envMap.name}`]
      : []),
    ...applyRules(asked, rules),
    ...[listed, mapped, combined].flatMap((part) => part?.errors ?? []),
  ];
  return errors.length > 0
    ? { kind: 'deny', errors }
    : { kind: 'inject', plan: planOf(asked, combined.secrets) };
}

interface Config {
  readonly name: string;
  readonly spec: ServiceConfigSpec;
}

/**
 * Blocks of a ServiceConfig that undo the egress policy, by themselves or together with those of the namespace's other
 * ServiceConfigs, since one policy applies to all pods of the namespace.
 */
function egressErrors(config: Config | undefined, all: readonly Config[]): string[] {
  const own = blocksOf(config);
  if (config === undefined || own.length === 0) return [];
  const place = `ServiceConfig ${cut(config.name)}, egress`;
  const wide = own.filter(({ block }) => isTooWide(block));
  if (wide.length > 0)
    return messagesOn(
      wide,
      ({ index, cidr }) =>
        `${place}[${index}].cidr: ${cut(cidr)} is nearly every address, so the egress policy would block nothing; name blocks of /8 (IPv6: /7) or smaller`,
    );
  const together = own.map(({ block }) => block);
  const maxTogether = together.length + maxExtra;
  for (const other of all) {
    if (together.length >= maxTogether) break;
    if (other.name !== config.name) together.push(...blocksOf(other).map(({ block }) => block));
  }
  return areTooWide(together)
    ? [
        `${place}: the blocks of this namespace's ServiceConfigs together cover more than a quarter of all addresses, so the egress policy would block little; name smaller ones`,
      ]
    : [];
}

function blocksOf(config: Config | undefined): { index: number; cidr: string; block: Block }[] {
  return (config?.spec.egress ?? []).flatMap(({ cidr = '' }, index) => {
    const block = parseBlock(cidr);
    return block === undefined ? [] : [{ index, cidr, block }];
  });
}

/** A reason why a pod that asks for protection cannot have it. */
type PodRefusal = (pod: Pod) => string | undefined;

const wayOut = 'set svc/inject: "false" to run it without protection';

/** All that apply are reported, in this order. */
const refusals: readonly PodRefusal[] = [windows, hostNetwork, staticPod];

export function refusalsOf(pod: Pod): string[] {
  return refusals.map((refuse) => refuse(pod)).filter((reason) => reason !== undefined);
}

function windows({ spec }: Pod): string | undefined {
  const named = [
    spec.os?.name,
    spec.nodeSelector?.['kubernetes.io/os'],
    spec.nodeSelector?.['beta.kubernetes.io/os'],
  ];
  return named.includes('windows')
    ? `spec.os: is windows, and the wrapper runs on Linux only; ${wayOut}`
    : undefined;
}

/** On the node's network the pod's ports would be the node's, and no egress policy would apply. */
function hostNetwork({ spec }: Pod): string | undefined {
  return spec.hostNetwork === true
    ? `spec.hostNetwork: is true: egress policies do not apply to a pod on the network of its node, and it would share the node's ports; ${wayOut}`
    : undefined;
}

/** The API server holds only a mirror of a static pod, so a change would not reach the pod. */
function staticPod({ metadata }: Pod): string | undefined {
  return metadata.annotations !== undefined &&
    Object.hasOwn(metadata.annotations, 'kubernetes.io/config.mirror')
    ? `metadata.annotations: belong to a static pod, which its kubelet has started already; run it by a controller, or ${wayOut}`
    : undefined;
}

/** Builds the plan of a request without errors. */
function planOf(asked: Asked, secrets: readonly PlannedSecret[]): InjectionPlan {
  const { wishes } = asked;
  return {
    vault: {
      address: addressOf(asked)?.value ?? '',
      role: wishes.vaultRole?.value ?? '',
      authMount: wishes.authMount?.value,
      skipVerify: wishes.skipVerify?.value ?? false,
      ...where('tokenAudience', wishes.tokenAudience?.value ?? asked.defaults.tokenAudience),
    },
    secrets,
    ...where('envMapOnly', mapOnlyOf(asked)?.value),
    rotation: wishes.rotation?.value,
    renewalInterval: wishes.renewalInterval?.value,
    delivery: wishes.delivery?.value,
    containers: wishes.containers && [...new Set(wishes.containers.value)],
    command: wishes.command?.value,
    proxy: proxyOf(wishes),
    serviceConfig: asked.config,
  };
}

function where<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]?: V });
}

function proxyOf(wishes: RequestedSettings): ProxyRequest | undefined {
  if (wishes.proxyEnabled?.value !== true) return undefined;
  const members = {
    role: wishes.proxyRole?.value,
    upstream: wishes.proxyUpstream?.value,
    transitKey: wishes.proxyTransitKey?.value,
    format: wishes.proxyFormat?.value,
    recoveryRecipients: wishes.proxyRecoveryRecipients?.value,
    callerKeys: wishes.proxyCallerKeys?.value,
    storeCA: wishes.proxyStoreCA?.value,
    credentialsSecret: wishes.proxyCredentials?.value,
  };
  const set = Object.entries(members).filter(([, value]) => value !== undefined);
  return { enabled: true, ...Object.fromEntries(set) };
}

/** Input of the rules. */
interface Asked {
  readonly wishes: RequestedSettings;
  readonly defaults: InjectionDefaults;
  /** Name of the ServiceConfig that selects the pod. */
  readonly config: string | undefined;
}

/** Settings that concern the proxy. */
const proxyKeys = [
  'proxyRole',
  'proxyUpstream',
  'proxyTransitKey',
  'proxyFormat',
  'proxyRecoveryRecipients',
  'proxyCallerKeys',
  'proxyStoreCA',
] as const;

/** Rules for missing parts of a plan; each error begins with the annotation that would fix it. */
const rules: readonly Rule<Asked>[] = [
  addressKnown,
  addressEncrypted,
  roleKnown,
  secretsKnown,
  mapOnlyKept,
  verified,
  ...proxyKeys.map(withProxy),
  storeEncrypted,
];

/** The secrets server's address and its place. */
function addressOf({ wishes, defaults }: Asked): Wish<string> | undefined {
  const { vaultAddress } = defaults;
  return (
    wishes.vaultAddress ??
    (vaultAddress === undefined ? undefined : { place: 'SVC_OPERATOR_VAULT_ADDR', value: vaultAddress })
  );
}

function addressKnown(asked: Asked): string | undefined {
  if (addressOf(asked) !== undefined) return undefined;
  const { name, expects } = annotations.vaultAddress;
  return `${name}: required, should be ${expects}; or set ${memberOf(asked, 'vault.address')}, or operator.vaultAddress for all pods`;
}

function addressEncrypted(asked: Asked): string | undefined {
  const address = addressOf(asked);
  return address && unencrypted(address.place, new URL(address.value));
}

function roleKnown(asked: Asked): string | undefined {
  if (asked.wishes.vaultRole !== undefined) return undefined;
  const { name, expects } = annotations.vaultRole;
  return `${name}: required, should be ${expects}; or set ${memberOf(asked, 'vault.role')}`;
}

function secretsKnown(asked: Asked): string | undefined {
  const { secretPaths, secretMappings } = asked.wishes;
  if ([secretPaths, secretMappings].some((wish) => wish !== undefined && wish.value.length > 0))
    return undefined;
  const { name, expects } = annotations.secretPaths;
  return `${name}: required, should be ${expects}; or set ${annotations.secretMapping.name}, or ${memberOf(asked, 'secretPaths')}`;
}

/** Whether fields without a name of their own are left out. A pod may narrow what the operator says, not widen it. */
function mapOnlyOf({ wishes, defaults }: Asked): Wish<boolean> | undefined {
  return defaults.envMapOnly && wishes.envMapOnly?.value !== true
    ? { place: 'SVC_OPERATOR_ENV_MAP_ONLY', value: true }
    : wishes.envMapOnly;
}

function mapOnlyKept({ wishes: { envMapOnly }, defaults }: Asked): string | undefined {
  return defaults.envMapOnly && envMapOnly?.value === false
    ? `${envMapOnly.place}: should be true or unset, because operator.envMapOnly holds for all pods; name every field in ${annotations.envMap.name}`
    : undefined;
}

function memberOf({ config }: Asked, member: string): string {
  return config === undefined
    ? `${member} of a ServiceConfig that selects the pod`
    : `${member} of ServiceConfig ${cut(config)}`;
}

function verified({ wishes: { skipVerify }, defaults }: Asked): string | undefined {
  return skipVerify?.value === true && !defaults.development
    ? `${skipVerify.place}: should be false, because the operator does not run in development mode`
    : undefined;
}

/** A ServiceConfig may keep proxy settings while the proxy is off; as annotations they indicate a mistake. */
function withProxy(key: (typeof proxyKeys)[number]): Rule<Asked> {
  return ({ wishes }) => {
    const place = wishes[key]?.place;
    return place?.startsWith('svc/') && wishes.proxyEnabled?.value !== true
      ? `${place}: has no effect without ${annotations.s3Proxy.name}: "true"`
      : undefined;
  };
}

/** CAs are given where nothing is verified, so one of the two settings is a mistake. */
function storeEncrypted({ wishes: { proxyStoreCA, proxyUpstream } }: Asked): string | undefined {
  if (!proxyStoreCA?.place.startsWith('svc/') || proxyStoreCA.value === '') return undefined;
  return proxyUpstream?.value.toLowerCase().startsWith('http:')
    ? `${proxyStoreCA.place}: has no effect for a store without TLS, and ${proxyUpstream.place} is ${cut(proxyUpstream.value)}`
    : undefined;
}
