import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type {
  InjectionDefaults,
  InjectionPlan,
  Mutation,
} from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, PodSpec, VolumeMount } from '../../../../src/cluster/kube/pod.ts';

const test = suite('mounts that put something else in the place of the wrapper');

const defaults: InjectionDefaults = {
  ...{
    vaultAddress: undefined,
    wrapperImage: 'wrapper:1',
    proxyImage: 'proxy:1',
    wrapperDelivery: 'copy',
    seccompDefault: true,
  },
  ...{ caConfigMap: 'svc-ca', agentSocket: undefined, development: false },
};
const plan: InjectionPlan = {
  vault: { address: 'https://vault.example:8200', role: 'app', authMount: undefined, skipVerify: false },
  secrets: [{ path: 'secret/app', mappings: [] }],
  ...{ rotation: undefined, renewalInterval: undefined, delivery: undefined, containers: undefined },
  ...{ command: undefined, proxy: undefined, serviceConfig: undefined },
};
const app: Container = { name: 'app', image: 'app:1', command: ['/app'] };

const mutated = (spec: Partial<PodSpec>): Mutation =>
  mutatePod({ metadata: {}, spec: { containers: [app], ...spec } }, plan, defaults, {
    ...{ podSecurity: 'restricted', nativeSidecars: true, images: new Map() },
  });
const withMount = (mount: VolumeMount) =>
  mutated({ containers: [{ ...app, volumeMounts: [mount] }], volumes: [{ name: 'evil', emptyDir: {} }] });
const refusedFor = (mutation: Mutation, why: RegExp) => {
  assert.is(mutation.kind, 'deny');
  assert.match(mutation.kind === 'deny' ? mutation.errors.join('\n') : '', why);
};

for (const mountPath of ['/svc', '/svc/', '//svc', 'svc', '/./svc', '/etc/../svc', '/svc/.']) {
  test(`a volume at ${mountPath}`, () => {
    refusedFor(withMount({ name: 'evil', mountPath }), /\/svc is reserved for the volume svc-wrapper/);
  });
}

for (const mountPath of ['/svc/svc-wrapper', '//svc/bin', 'svc/lib', '/x/../svc/node', '/svc/certs']) {
  test(`a volume at ${mountPath}`, () => {
    refusedFor(withMount({ name: 'evil', mountPath }), /is reserved for/);
  });
}

const own = { name: 'svc-wrapper', mountPath: '/svc', readOnly: true };
for (const [name, mount] of Object.entries({
  'a part of the folder': { ...own, subPath: 'evil' },
  'a part of it by a variable': { ...own, subPathExpr: '$(EVIL)' },
  'the folder to write to': { ...own, readOnly: false },
  'the folder elsewhere': { ...own, mountPath: '/elsewhere' },
})) {
  test(`${name}, in a wrapped container`, () => {
    refusedFor(withMount(mount), /svc-wrapper/);
  });
}

for (const name of ['svc-wrapper', 'svc-wrapper-token', 'svc-ca']) {
  test(`${name} in containers that are not wrapped`, () => {
    const volumeMounts = [{ name, mountPath: '/mine' }];
    const wanted = new RegExp(`container init: mounts ${name} at /mine`);
    refusedFor(mutated({ initContainers: [{ name: 'init', image: 'i:1', volumeMounts }] }), wanted);
    const sidecar = { name: 'istio-proxy', image: 'i:1', volumeMounts };
    refusedFor(mutated({ containers: [app, sidecar] }), /container istio-proxy: mounts/);
  });
}

test('of the config map, only the key that the operator writes is mounted', () => {
  const mutation = mutated({});
  const volumes = mutation.kind === 'pod' ? (mutation.pod.spec.volumes ?? []) : [];
  const { configMap } = volumes.find(({ name }) => name === 'svc-ca') ?? {};
  assert.equal(configMap, { name: 'svc-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] });
});

test('what the operator has mounted itself stays', () => {
  const first = mutated({});
  assert.is(first.kind, 'pod');
  if (first.kind === 'pod') assert.equal(mutated(first.pod.spec), { ...first, pod: first.pod });
});

test.run();
