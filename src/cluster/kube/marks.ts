import type {
  KnownNamespace,
  KnownPod,
  KnownSecretMapping,
  KnownServiceConfig,
  KnownWorkload,
} from './known-objects.ts';
import { podSecurityLabel, protectedLabel, proxyLabel } from './labels.ts';
import type { Keeping } from './object-keeper.ts';
import type { PodSpec } from './pod.ts';
import { anyEgress, isTooLong, type KnownPolicy } from './project-objects.ts';

/** What is kept of objects that there is no room for, and what stands for those of which nothing is kept. */
export type Marking<T> = Pick<Keeping<T>, 'mark' | 'standIn'>;

/** Each has a mark. */
export const markingOfNamespaces: Marking<KnownNamespace> = { mark: markNamespace, standIn: (mark) => mark };

export const markingOfPods: Marking<KnownPod> = {
  mark: markPod,
  standIn: ({ pod, ...rest }, key) => ({
    ...{ ...rest, key },
    pod: { ...pod, metadata: { ...pod.metadata, labels: { [protectedLabel]: 'true' } } },
  }),
};

export const markingOfWorkloads: Marking<KnownWorkload> = { mark: markWorkload, standIn: (mark) => mark };

/** The oldest, which decides about every pod. */
export const markingOfServiceConfigs: Marking<KnownServiceConfig> = {
  mark: markServiceConfig,
  standIn: (mark, key) => ({ ...mark, key, created: '', spec: { selector: {}, tooLarge: true } }),
};

export const markingOfSecretMappings: Marking<KnownSecretMapping> = {
  mark: markSecretMapping,
  standIn: (mark, key) => ({ ...mark, key }),
};

export const markingOfPolicies: Marking<KnownPolicy> = {
  mark: markPolicy,
  standIn: (mark, key) => ({ ...mark, key, ours: false, shared: true }),
};

/** With the labels that say how its pods are treated. */
function markNamespace({ labels, ...rest }: KnownNamespace): KnownNamespace {
  return { ...rest, ...markedLabels(labels, [protectedLabel, podSecurityLabel]) };
}

/** Counts as unprotected, but keeps what marks it as one that policies select. */
function markPod({ pod, ...rest }: KnownPod): KnownPod {
  const { labels, annotations: _, ownerReferences: __, ...metadata } = pod.metadata;
  return { ...rest, pod: { ...pod, metadata: { ...metadata, ...markedLabels(labels) }, spec: unknownSpec } };
}

const unknownSpec: PodSpec = { containers: [{ name: 'unknown', command: [] }] };

function markedLabels(
  labels: Readonly<Record<string, string>> = {},
  wanted: readonly string[] = [protectedLabel, proxyLabel],
) {
  const own = wanted.filter((name) => Object.hasOwn(labels, name));
  return { labels: Object.fromEntries(own.map((name) => [name, labels[name] ?? ''])) };
}

function markWorkload({ template, ...rest }: KnownWorkload): KnownWorkload {
  if (template === undefined) return { ...rest, owner: undefined, template };
  return { ...rest, template: { metadata: markedLabels(template.metadata.labels), spec: unknownSpec } };
}

/** Selects what it did; every pod of the namespace if even its selector is large. */
export function markServiceConfig({ spec, status, ...rest }: KnownServiceConfig): KnownServiceConfig {
  const { selector = {} } = spec ?? {};
  const known = isTooLong(selector, maxMark) ? {} : selector;
  return { ...rest, spec: { selector: known, tooLarge: true }, status: markStatus(status) };
}

export function markSecretMapping({ status, ...rest }: KnownSecretMapping): KnownSecretMapping {
  return { ...rest, spec: { secrets: [], tooLarge: true }, status: markStatus(status) };
}

const maxMark = 2 * 1024;

/** Without the conditions it would be written again and again, with another time of their last change. */
function markStatus<Status extends object>(status: Status): Status {
  const { usedBy: _, ...rest } = status as Status & { readonly usedBy?: unknown };
  return (isTooLong(rest, 2 * maxMark) ? {} : rest) as Status;
}

/** Counts as one that allows everything. */
function markPolicy(policy: KnownPolicy): KnownPolicy {
  return { ...policy, labels: {}, hosts: undefined, spec: anyEgress };
}
