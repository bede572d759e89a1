import * as assert from 'uvu/assert';
import type { Mutation } from '../../../../src/cluster/injection/contract.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import { type PodCase, planOf } from './pods/case.ts';

type Mutate = (pod: Pod) => Mutation;

/** What holds for every pod that is changed. */
export function checkInvariants(one: PodCase, pod: Pod, mutate: Mutate): void {
  isConvergent(pod, mutate);
  isConvergent(withOthers(pod), mutate);
  keepsOthers(one.pod, withOthers(pod), mutate);
  losesNothing(one.pod, pod);
  namesAreUnique(pod);
  addedContainersAreGood(one.pod, pod);
  assert.is(isGuaranteed(pod), isGuaranteed(one.pod), 'class of service');
  hostIsLeftAlone(one, pod);
  wrapperIsThere(pod);
  hasLabels(one, pod);
}

function isConvergent(pod: Pod, mutate: Mutate): void {
  const first = podOf(mutate(pod));
  assert.equal(podOf(mutate(first)), first, 'a second time changes nothing');
}

function podOf(mutation: Mutation): Pod {
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return mutation.pod;
}

/** As the API server and another webhook leave a mutated pod before this one is asked again. */
function withOthers(pod: Pod): Pod {
  const touched = (container: Container): Container =>
    ({
      terminationMessagePath: '/dev/termination-log',
      ...container,
      imagePullPolicy: 'IfNotPresent',
      env: [...(container.env ?? []), { name: 'ADDED_BY_OTHERS', value: '1' }],
      volumeMounts: [...(container.volumeMounts ?? []), { name: 'others', mountPath: '/others' }],
    }) as Container;
  const { initContainers, containers, volumes = [] } = pod.spec;
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(initContainers && { initContainers: [late('others-init'), ...initContainers.map(touched)] }),
      containers: [...containers.map(touched), late('istio-proxy')],
      volumes: [...volumes.map(defaulted), { name: 'others', emptyDir: {} }],
    },
  };
}

const late = (name: string): Container => ({ name, image: 'others:1', command: ['/others'] });

function defaulted(volume: NonNullable<Pod['spec']['volumes']>[number]) {
  return volume.configMap === undefined
    ? volume
    : { ...volume, configMap: { ...volume.configMap, defaultMode: 420 } };
}

/**
 * What others put in between is there afterwards, and may be referred to by the original arguments; but for containers of
 * the operator's own, which hold what it gives them.
 */
function keepsOthers(original: Pod, touched: Pod, mutate: Mutate): void {
  if (all(original).some(({ name }) => name === 'istio-proxy')) return;
  const again = podOf(mutate(touched));
  assert.is(again.spec.containers.at(-1)?.name, 'istio-proxy');
  for (const container of all(touched)) {
    const { env = [], ...rest } = named(again, container.name);
    if (container.name === 'istio-proxy' || container.name === 'others-init') continue;
    const names = env.map(({ name }) => name);
    if (isOwn(container)) {
      assert.not(names.includes('ADDED_BY_OTHERS'), container.name);
      assert.not(
        rest.volumeMounts?.some(({ name }) => name === 'others'),
        container.name,
      );
      continue;
    }
    assert.is(names.filter((name) => name === 'ADDED_BY_OTHERS').length, 1);
    if (names.includes('SVC_ORIGINAL_CMD')) {
      assert.ok(names.indexOf('ADDED_BY_OTHERS') < names.indexOf('SVC_ORIGINAL_CMD'));
    }
    assert.ok(rest.volumeMounts?.some(({ name }) => name === 'others'));
  }
}

const isOwn = ({ name }: { readonly name: string }) => name === 'svc-wrapper' || name === 'svc-proxy';

const all = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];

function named(pod: Pod, name: string): Container {
  const found = all(pod).find((container) => container.name === name);
  if (found === undefined) throw new Error(`the container ${name} is gone`);
  return found;
}

/** Every member of the user's, but the command line, stands where it stood. */
function losesNothing(before: Pod, after: Pod): void {
  const order = (pod: Pod) =>
    all(pod)
      .filter((one) => !isOwn(one))
      .map(({ name }) => name);
  assert.equal(order(after), order(before));
  for (const container of all(before)) {
    const { command: _c, args: _a, ...rest } = container;
    isWithin(rest, named(after, container.name), container.name);
  }
  const { containers: _x, initContainers: _y, ...spec } = before.spec;
  isWithin(spec, after.spec, 'spec');
  isWithin(before.metadata, after.metadata, 'metadata');
}

/** Lists keep their items in order, and may have more. */
function isWithin(before: unknown, after: unknown, path: string): void {
  if (Array.isArray(before)) {
    assert.ok(Array.isArray(after), path);
    let from = 0;
    for (const item of before) {
      const at = (after as unknown[]).findIndex(
        (one, index) => index >= from && JSON.stringify(one) === JSON.stringify(item),
      );
      assert.is.not(at, -1, `${path}: ${JSON.stringify(item)} is gone or has moved`);
      from = at + 1;
    }
  } else if (typeof before === 'object' && before !== null) {
    for (const [name, value] of Object.entries(before))
      isWithin(value, Reflect.get(Object(after), name), `${path}.${name}`);
  } else assert.is(after, before, path);
}

function namesAreUnique({ spec, ...pod }: Pod): void {
  const once = (names: readonly unknown[], what: string) =>
    assert.is(new Set(names).size, names.length, `${what}: ${names}`);
  once(
    all({ ...pod, spec }).map(({ name }) => name),
    'containers',
  );
  const volumes = (spec.volumes ?? []).map(({ name }) => name);
  once(volumes, 'volumes');
  const health: string[] = [];
  for (const { name, env = [], volumeMounts = [] } of all({ ...pod, spec })) {
    once(
      volumeMounts.map(({ mountPath }) => mountPath.replace(/\/$/, '')),
      `mounts of ${name}`,
    );
    once(
      env.map((one) => one.name),
      `variables of ${name}`,
    );
    for (const mount of volumeMounts)
      if (mount.name.startsWith('svc-')) assert.ok(volumes.includes(mount.name), mount.name);
    health.push(
      ...env
        .filter((one) => /^(HEALTH_ADDR|SVC_PROXY_HEALTH)$/.test(one.name))
        .map(({ value = '' }) => value),
    );
  }
  once(health, 'health addresses');
  const declared = all({ ...pod, spec }).flatMap(({ ports = [] }) =>
    ports.map(({ containerPort }) => `:${containerPort}`),
  );
  for (const address of health) assert.not(declared.includes(address), address);
}

/** Containers that were not there satisfy `restricted`, and a quota on requests and limits. */
function addedContainersAreGood(before: Pod, after: Pod): void {
  const known = all(before).map(({ name }) => name);
  for (const { name, securityContext, resources } of all(after)) {
    if (known.includes(name)) continue;
    assert.is(securityContext?.allowPrivilegeEscalation, false, name);
    assert.is(securityContext?.runAsNonRoot, true, name);
    assert.is(securityContext?.readOnlyRootFilesystem, true, name);
    assert.is.not(securityContext?.runAsUser ?? before.spec.securityContext?.runAsUser, 0, name);
    assert.equal(securityContext?.capabilities, { drop: ['ALL'] }, name);
    assert.equal(securityContext?.seccompProfile, { type: 'RuntimeDefault' }, name);
    for (const amounts of [resources?.requests, resources?.limits]) {
      assert.equal(Object.keys(amounts ?? {}).sort(), ['cpu', 'memory'], name);
    }
  }
}

/** Of the class Guaranteed: requests of CPU and memory equal their limits in every container. */
const isGuaranteed = (pod: Pod): boolean =>
  all(pod).every(({ resources = {} }) =>
    ['cpu', 'memory'].every((name) => {
      const limit = resources.limits?.[name];
      return limit !== undefined && resources.requests?.[name] === limit;
    }),
  );

function hostIsLeftAlone({ level = 'baseline', pod: before }: PodCase, after: Pod): void {
  if (level === 'privileged') return;
  assert.equal(
    (after.spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined),
    [],
  );
  for (const { name, securityContext } of all(after)) {
    const own = all(before).find((one) => one.name === name)?.securityContext;
    assert.equal(securityContext?.capabilities?.add, own?.capabilities?.add, name);
  }
}

/** The wrapper's folder is there, whole and read only, wherever it starts. */
function wrapperIsThere(pod: Pod): void {
  for (const { name, command = [], args = [], volumeMounts = [] } of all(pod)) {
    const mount = volumeMounts.find(({ mountPath }) => mountPath === '/svc');
    if (command[0] !== '/svc/svc-wrapper' || name === 'svc-wrapper') continue;
    assert.equal([mount?.name, mount?.readOnly, args], ['svc-wrapper', true, []], name);
  }
}

function hasLabels(one: PodCase, { metadata }: Pod): void {
  const { proxy } = planOf(one);
  assert.is(metadata.labels?.['svc/protected'], 'true');
  assert.is(metadata.labels?.['svc/proxy'], proxy?.enabled ? 'true' : undefined);
}
