import { protectedLabel, proxyLabel } from '../../kubernetes/labels.ts';
import type { Container, Pod, PodSpec } from '../../kubernetes/pod.ts';
import type { InjectionDefaults, InjectionPlan, Mutation, Surroundings } from '../contract.ts';
import { addProxy } from './add-proxy.ts';
import { addVolume } from './add-volume.ts';
import { callerKeysOf, callerWarnings } from './caller-keys.ts';
import { certificates } from './certificates.ts';
import { mistakesIn } from './checks.ts';
import { chosenContainers } from './chosen.ts';
import type { Context } from './context.ts';
import { folderDelivery } from './delivery.ts';
import { placeContainer } from './place-container.ts';
import { assignPorts } from './ports.ts';
import type { Shared } from './shared.ts';
import { strayMounts } from './stray-mounts.ts';
import { ownToken } from './token.ts';
import { warningsFor } from './warnings.ts';
import { wrapContainer } from './wrap-container.ts';
import { isWrapped } from './wrapped.ts';

/**
 * The pod as it is to run: its chosen containers under the wrapper, with the proxy where the plan says so. Nothing of the
 * pod's own is taken away. What comes out of it goes through it unchanged, also when others have added to it in between.
 */
export function mutatePod(
  pod: Pod,
  plan: InjectionPlan,
  defaults: InjectionDefaults,
  surroundings: Surroundings,
): Mutation {
  const mistakes = mistakesIn(pod, plan, defaults, surroundings);
  const chosen = chosenContainers(pod, plan);
  const context: Context = {
    ...{ pod, plan, defaults, surroundings },
    ports: assignPorts(pod, chosen),
    folder: folderDelivery(pod, defaults),
    certificates: certificates(defaults.caConfigMap),
    token: ownToken(pod, plan.vault.tokenAudience),
    callerKeys: callerKeysOf(pod, plan, surroundings),
    remarks: { mistakes, warnings: warningsFor(pod, plan, surroundings, chosen) },
  };
  context.remarks.warnings.push(...callerWarnings(plan, chosen, context.callerKeys));
  const wrapped = wrapChosen(chosen, context);
  mistakes.push(...strayMounts(wrapped.spec, new Set(chosen.map(({ name }) => name)), wrapped.shared));
  const spec = addProxy(addCopier(wrapped.spec, context), context);
  if (mistakes.length > 0) return { kind: 'deny', mistakes };
  return {
    kind: 'pod',
    pod: { ...pod, metadata: labelled(pod, plan), spec },
    warnings: context.remarks.warnings,
  };
}

interface Wrapped {
  readonly spec: PodSpec;
  readonly shared: readonly Shared[];
}

function wrapChosen(chosen: readonly Container[], context: Context): Wrapped {
  const { spec } = context.pod;
  const shared: Shared[] = [];
  const wrap = (container: Container): Container => {
    if (!chosen.includes(container)) return container;
    const wrapped = wrapContainer(container, context);
    shared.push(...wrapped.shared);
    return wrapped.container;
  };
  const initContainers = spec.initContainers?.map(wrap);
  const containers = spec.containers.map(wrap);
  const volumes = shared.reduce((into, { volume }) => addVolume(into, volume, context), spec.volumes ?? []);
  const initial = initContainers === undefined ? {} : { initContainers };
  return { spec: { ...spec, ...initial, containers, volumes }, shared };
}

/** Ahead of every init container that starts with the wrapper. */
function addCopier(spec: PodSpec, context: Context): PodSpec {
  const { folder } = context;
  if (folder.copier === undefined) return spec;
  const { initContainers = [] } = spec;
  const first = initContainers.findIndex(isWrapped);
  const place = { at: 0, latest: first === -1 ? initContainers.length : first };
  return { ...spec, initContainers: placeContainer(initContainers, folder.copier, place, context) };
}

function labelled({ metadata }: Pod, { proxy }: InjectionPlan): Pod['metadata'] {
  const labels = { [protectedLabel]: 'true', ...(proxy?.enabled ? { [proxyLabel]: 'true' } : {}) };
  return { ...metadata, labels: { ...metadata.labels, ...labels } };
}
