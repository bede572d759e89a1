import { hasProtectedPod, isExempt } from '../../../cluster/injection/protected-pods.ts';
import { apply, type KubeObject, readObject } from '../../../cluster/kube/client.ts';
import { fieldManager, isLabelled, protectedLabel } from '../../../cluster/kube/labels.ts';
import { protectionDiffers } from '../cluster-view.ts';
import {
  type Controller,
  type ControllerDeps,
  commonOptions,
  type Indexes,
  type Reconciled,
  runController,
} from './run-controller.ts';

const foreignRetryMs = 5 * 60_000;

/** Labels each namespace that has a ServiceConfig, so that the webhook is asked about all of its pods. */
export function startNamespaceLabelController(deps: ControllerDeps, indexes: Indexes): Controller {
  const { namespaces, serviceConfigs, pods } = deps.cluster;
  const controller = runController({
    ...commonOptions(deps),
    name: 'namespace-label',
    *keys() {
      for (const { name } of namespaces.values()) yield name;
    },
    async reconcile(name, signal) {
      const namespace = namespaces.get(name);
      if (namespace === undefined || namespace.terminating) return undefined;
      const isWanted = indexes.serviceConfigs.count(name) > 0 && !isExempt(name, deps.namespace);
      const isThere = isLabelled(namespace.labels);
      if (isWanted && !isThere) return label(deps, name, signal);
      const isNeeded = isWanted || hasProtectedPod(indexes.pods.in(name));
      if (isThere && !isNeeded) await takeBack(deps, name, signal);
      return undefined;
    },
  });
  namespaces.onChange(({ name }, _before, gone) => !gone && controller.enqueue(name));
  serviceConfigs.onChange(({ namespace }, before, gone) => {
    if (before === undefined || gone) controller.enqueue(namespace);
  });
  pods.onChange((pod, before, gone) => {
    if (protectionDiffers(pod, before, gone)) controller.enqueue(pod.namespace);
  });
  return controller;
}

type NamespaceObject = KubeObject & { readonly metadata: { readonly managedFields?: ManagedFields } };

const pathOf = (name: string) => `/api/v1/namespaces/${encodeURIComponent(name)}`;

function applyLabels(
  { client }: ControllerDeps,
  { metadata: { name, uid } }: NamespaceObject,
  labels: object,
  signal: AbortSignal,
) {
  // with the UID, because applying would otherwise re-create a deleted namespace
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid, labels } };
  return apply(client, { path: pathOf(name), object, signal });
}

/** A value that somebody sets in the meantime is a conflict, which causes another reconciliation. */
async function label(deps: ControllerDeps, name: string, signal: AbortSignal): Promise<Reconciled> {
  const found = await readObject<NamespaceObject>(deps.client, pathOf(name), signal);
  const value = found?.metadata.labels?.[protectedLabel];
  if (found === undefined || value === 'true') return undefined;
  if (value !== undefined) return tellForeign(deps, found);
  await applyLabels(deps, found, { [protectedLabel]: 'true' }, signal);
  deps.log.info('namespace.labelled', { namespace: name });
  return undefined;
}

/** A value that somebody has set on purpose is left alone. */
function tellForeign({ log, events }: ControllerDeps, found: NamespaceObject): Reconciled {
  const { name, uid, labels } = found.metadata;
  const note = `The label ${protectedLabel}=${labels?.[protectedLabel]} was not set by the operator: remove it, or set it to true, for the ServiceConfigs here to take effect`;
  log.warn('namespace.label.foreign', { namespace: name, error: note });
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Namespace', namespace: name, name, uid },
    ...{ type: 'Warning', reason: 'ForeignLabel', action: 'Label', note },
  });
  return { requeueAfterMs: foreignRetryMs };
}

async function takeBack(deps: ControllerDeps, name: string, signal: AbortSignal): Promise<void> {
  const found = await readObject<NamespaceObject>(deps.client, pathOf(name), signal);
  if (found === undefined || !ownsLabel(found.metadata.managedFields, fieldManager, protectedLabel)) return;
  await applyLabels(deps, found, {}, signal);
  deps.log.info('namespace.label.removed', { namespace: name });
}

/** Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managing-fields */
type ManagedFields = readonly {
  readonly manager?: string;
  readonly operation?: string;
  readonly fieldsV1?: unknown;
}[];

/** Whether that manager has applied the label, and may thus take it back. */
function ownsLabel(fields: ManagedFields | undefined, manager: string, label: string): boolean {
  return (fields ?? []).some(
    (entry) =>
      entry.manager === manager &&
      entry.operation === 'Apply' &&
      member(member(member(entry.fieldsV1, 'f:metadata'), 'f:labels'), `f:${label}`) !== undefined,
  );
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
