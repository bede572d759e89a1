import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isConfiguredImage } from '../../../../src/cluster/images/reference.ts';
import type { InjectionDefaults, InjectionPlan } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, PodSpec } from '../../../../src/cluster/kube/pod.ts';

const test = suite("containers written as if they were the operator's own");

const wrapperImage = 'registry.example/svc/wrapper:1.0.0';
const proxyImage = 'registry.example/svc/proxy:1.0.0';
const digest = `sha256:${'a'.repeat(64)}`;
const defaults: InjectionDefaults = {
  ...{ vaultAddress: undefined, wrapperImage, proxyImage, wrapperDelivery: 'copy', seccompDefault: true },
  ...{ caConfigMap: undefined, agentSocket: undefined, development: false },
};
const plan: InjectionPlan = {
  vault: { address: 'https://vault.example:8200', role: 'app', authMount: undefined, skipVerify: false },
  secrets: [{ path: 'secret/app', mappings: [] }],
  ...{ rotation: undefined, renewalInterval: undefined, delivery: undefined, containers: undefined },
  ...{ command: undefined, serviceConfig: undefined },
  proxy: { enabled: true, upstream: 'https://s3.example' },
};

function mutated(spec: Partial<PodSpec>, given: Partial<InjectionDefaults> = {}): PodSpec {
  const containers = [{ name: 'app', image: 'app:1', command: ['/app'] }];
  const surroundings = { podSecurity: 'restricted', nativeSidecars: true, images: new Map() } as const;
  const mutation = mutatePod(
    { metadata: {}, spec: { containers, ...spec } },
    plan,
    { ...defaults, ...given },
    surroundings,
  );
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return mutation.pod.spec;
}

const forgeries = [
  'evil.example/svc/wrapper:1.0.0',
  'evil.example/wrapper:1.0.0',
  'wrapper:1.0.0',
  'registry.example/evil/wrapper:1.0.0',
  'registry.example/svc/wrapper:1.0.1',
  `evil.example/svc/wrapper:1.0.0@${digest}`,
  'registry.example:443/svc/wrapper:1.0.0',
  'svc/wrapper:1.0.0',
  '../svc/wrapper:1.0.0',
  '',
];

for (const image of forgeries) {
  test(`the copier is no ${image || 'image without a name'}`, () => {
    const [first] = mutated({}).initContainers ?? [];
    const forged = { ...first, name: 'svc-wrapper', image };
    assert.is(mutated({ initContainers: [forged] }).initContainers?.[0]?.image, wrapperImage);
  });
}

test('the proxy is of no other registry', () => {
  const given = mutated({});
  const initContainers = (given.initContainers ?? []).map((one) => ({
    ...one,
    image: 'evil.example/svc/proxy:1.0.0',
  }));
  const images = mutated({ initContainers }).initContainers?.map(({ image }) => image);
  assert.equal(images, [wrapperImage, proxyImage]);
});

/** What would make another program of a container, or give it more than it is to have. */
const additions = {
  env: [
    { name: 'NODE_OPTIONS', value: '--require=/mine/program.js' },
    { name: 'LD_PRELOAD', value: '/mine/library.so' },
    { name: 'VAULT_CACERT', value: '/mine/ca.crt' },
  ],
  volumeMounts: [
    { name: 'mine', mountPath: '/mine' },
    { name: 'mine', mountPath: '/opt/svc/bin' },
  ],
};
const members = {
  envFrom: [{ configMapRef: { name: 'mine' } }],
  lifecycle: { postStart: { exec: { command: ['/mine/program'] } } },
  livenessProbe: { exec: { command: ['/mine/program'] } },
  ports: [{ containerPort: 9000, hostPort: 9000 }],
  workingDir: '/mine',
  stdin: true,
  volumeDevices: [{ name: 'mine', devicePath: '/dev/mine' }],
};

function withMore({ env = [], volumeMounts = [], securityContext, ...rest }: Container): Container {
  return {
    ...{ ...rest, ...members },
    env: [...env, ...additions.env],
    volumeMounts: [...additions.volumeMounts, ...volumeMounts],
    securityContext: {
      ...securityContext,
      ...{ privileged: true, readOnlyRootFilesystem: false, capabilities: { add: ['SYS_PTRACE'] } },
    },
  } as Container;
}

test('nothing is left of what was put into them', () => {
  const given = mutated({});
  const forged = (given.initContainers ?? []).map(withMore);
  assert.equal(mutated({ ...given, initContainers: forged }), given);
});

test('a variable of theirs that was set otherwise is as it is to be', () => {
  const given = mutated({});
  const initContainers = (given.initContainers ?? []).map((one) => ({
    ...one,
    ...(one.env && { env: one.env.map(({ name }) => ({ name, value: 'https://else.example' })) }),
  }));
  assert.equal(mutated({ ...given, initContainers }), given);
});

test('a probe of the proxy that was made to run a program is the one of the proxy', () => {
  const given = mutated({});
  const exec = { command: ['/mine/program'] };
  const initContainers = (given.initContainers ?? []).map((one) => ({
    ...one,
    ...(one.readinessProbe && { readinessProbe: { exec }, startupProbe: { exec } }),
  }));
  assert.equal(mutated({ ...given, initContainers }), given);
});

test('the image volume is of no other registry', () => {
  const image = { reference: 'evil.example/svc/wrapper:1.0.0', pullPolicy: 'IfNotPresent' };
  const spec = mutated({ volumes: [{ name: 'svc-wrapper', image }] }, { wrapperDelivery: 'image' });
  assert.is(spec.volumes?.find(({ name }) => name === 'svc-wrapper')?.image?.reference, wrapperImage);
});

test('an image by digest is that digest, from wherever, and never another', () => {
  const configured = `${wrapperImage}@${digest}`;
  assert.ok(isConfiguredImage(`mirror.example/wrapper@${digest}`, configured));
  assert.not.ok(isConfiguredImage(wrapperImage, configured));
  assert.not.ok(isConfiguredImage(`${wrapperImage}@sha256:${'b'.repeat(64)}`, configured));
});

test('names are compared as runtimes read them', () => {
  assert.ok(isConfiguredImage('docker.io/svc/wrapper:1', 'svc/wrapper:1'));
  assert.ok(isConfiguredImage('docker.io/library/wrapper', 'wrapper:latest'));
  const mirrors = new Map([['docker.io', ['mirror.example/hub']]]);
  assert.ok(isConfiguredImage('mirror.example/hub/svc/wrapper:1', 'svc/wrapper:1', mirrors));
  assert.not.ok(isConfiguredImage('mirror.example/svc/wrapper:1', 'svc/wrapper:1', mirrors));
  assert.not.ok(isConfiguredImage('mirror.example/hub/svc/wrapper:1', 'ghcr.io/svc/wrapper:1', mirrors));
});

test('an image by tag is none by a digest that nobody has configured', () => {
  assert.not.ok(isConfiguredImage(`${wrapperImage}@${digest}`, wrapperImage));
  assert.not.ok(isConfiguredImage(`registry.example/svc/wrapper@${digest}`, wrapperImage));
  const [first] = mutated({}).initContainers ?? [];
  const initContainers = [{ ...first, name: 'svc-wrapper', image: `${wrapperImage}@${digest}` }];
  assert.is(mutated({ initContainers }).initContainers?.[0]?.image, wrapperImage);
});

test('nothing in front of or behind the name makes it the same', () => {
  const part = fc.stringMatching(/^[a-z0-9./:@-]{1,20}$/);
  fc.assert(
    fc.property(part, fc.boolean(), (text, before) => {
      const image = before ? text + wrapperImage : wrapperImage + text;
      assert.not.ok(isConfiguredImage(image, wrapperImage), image);
    }),
  );
});

test.run();
