import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InjectionDefaults, MutationEnvironment } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, Pod } from '../../../../src/cluster/kube/pod.ts';
import {
  appImage,
  bare,
  container,
  defaults,
  image,
  type PodCase,
  plan,
  planOf,
  pod,
  surroundingsOf,
  withToken,
} from './pods/case.ts';

const again = suite('a webhook that is asked again');

function mutate(from: Pod, one: Partial<PodCase> = {}, surroundings?: MutationEnvironment): Pod {
  const complete = { name: '', pod: from, ...one };
  const mutation = mutatePod(from, planOf(complete), defaults, surroundings ?? surroundingsOf(complete));
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return mutation.pod;
}

const withSpec = (from: Pod, spec: Partial<Pod['spec']>): Pod => ({
  ...from,
  spec: { ...from.spec, ...spec },
});
const named = ({ spec }: Pod, name: string): Container =>
  [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name) ??
  container({ name: 'none' });
const variable = (from: Pod, name: string, of = 'app') =>
  named(from, of)
    .env?.filter((one) => one.name === name)
    .map(({ value }) => value);

again('makes room for a port that has been declared since', () => {
  const first = mutate(pod({ containers: [container(), container({ name: 'b' })] }));
  const sidecar = container({ name: 'istio-proxy', ports: [{ containerPort: 8081 }] });
  const second = mutate(withSpec(first, { containers: [...first.spec.containers, sidecar] }));
  assert.equal(
    [variable(second, 'HEALTH_ADDR'), variable(second, 'HEALTH_ADDR', 'b')],
    [[':8083'], [':8082']],
  );
});

again('lets a container keep its port when one that comes before it is gone', () => {
  const first = mutate(pod({ containers: [container(), container({ name: 'b' })] }));
  const second = mutate(withSpec(first, { containers: first.spec.containers.slice(1) }));
  assert.equal(variable(second, 'HEALTH_ADDR', 'b'), [':8082']);
});

again('leaves its token when the service account’s comes later', () => {
  const first = mutate(pod());
  const containers = first.spec.containers.map((one) => ({
    ...one,
    volumeMounts: [...(one.volumeMounts ?? []), ...withToken.volumeMounts],
  }));
  const mounted = withSpec(first, { containers });
  assert.equal(variable(mounted, 'SVC_SA_TOKEN_PATH'), ['/var/run/secrets/svc/token']);
  assert.equal(mutate(mounted), mounted);
});

again('still locks the memory of a root that only the image told', () => {
  const one = { level: 'privileged', images: { [appImage]: image(['/entry']) } } as const;
  const first = mutate(pod({ containers: [bare()] }), one);
  const seccompProfile = { type: 'RuntimeDefault' };
  assert.equal(named(first, 'app').securityContext, { seccompProfile, capabilities: { add: ['IPC_LOCK'] } });
  assert.equal(mutate(first, { level: 'privileged' }), first);
});

again('locks no more once the user is another', () => {
  const first = mutate(pod({ securityContext: { runAsUser: 0 } }), { level: 'privileged' });
  const second = mutate(withSpec(first, { securityContext: { runAsUser: 1000 } }), { level: 'privileged' });
  assert.equal(variable(second, 'SVC_REQUIRE_MLOCK'), ['false']);
});

again('puts the copier ahead of an init container that needs it', () => {
  const chosen = { plan: { containers: ['migrate'] } };
  const first = mutate(pod({ initContainers: [container({ name: 'migrate' })] }), chosen);
  const turned = withSpec(first, { initContainers: first.spec.initContainers?.toReversed() ?? [] });
  assert.equal(mutate(turned, chosen), first);
});

again('puts all settings in force in a container that was written as if it had been through', () => {
  const pretender = container({
    command: ['/svc/svc-wrapper'],
    env: [
      { name: 'VAULT_SKIP_VERIFY', value: 'true' },
      { name: 'SVC_ORIGINAL_CMD', value: '/bin/app' },
      { name: 'VAULT_ADDR', value: 'https://else.example' },
    ],
  });
  const first = mutate(pod({ containers: [pretender] }));
  assert.equal(variable(first, 'VAULT_SKIP_VERIFY'), ['false']);
  assert.equal(variable(first, 'VAULT_ADDR'), ['https://vault.example:8200']);
  assert.equal(mutate(first), first);
});

const everywhere = (from: Pod, change: Partial<Container>): Pod =>
  withSpec(from, {
    initContainers: (from.spec.initContainers ?? []).map((one) => ({ ...one, ...change })),
  });

const mirroring = {
  ...defaults,
  imageMirrors: new Map([['registry.example', ['mirror.example', 'mirror.example/cache']]]),
};

function mutateWith(given: InjectionDefaults, from: Pod): Pod {
  const complete = { name: '', pod: from };
  const mutation = mutatePod(from, planOf(complete), given, surroundingsOf(complete));
  if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
  return mutation.pod;
}

again('keeps an image from a mirror that it is told of, and no other', () => {
  const mirrored = everywhere(mutate(pod()), { image: 'mirror.example/cache/svc/wrapper:1.0.0' });
  assert.equal(mutateWith(mirroring, mirrored), mirrored);
  assert.is(named(mutate(mirrored), 'svc-wrapper').image, defaults.wrapperImage);
});

again('keeps a proxy where another replica has put it, whichever of them knows of sidecars', () => {
  const one = { plan: { proxy: { enabled: true, upstream: 'https://s3.example' } } };
  const [with_, without] = [true, false].map((nativeSidecars) => ({ ...one, nativeSidecars }));
  const sidecar = mutate(pod(), with_);
  assert.equal(mutate(sidecar, without), sidecar);
  const container = mutate(pod(), without);
  assert.equal(mutate(container, with_), container);
});

again('sets anew what an operator of another version has added', () => {
  const older = { image: 'registry.example/svc/wrapper:0.9.0', command: ['/svc/svc-wrapper', '--install'] };
  const first = mutate(pod());
  assert.equal(mutate(everywhere(first, older)), first);
  const one = { plan: { proxy: { enabled: true, upstream: 'https://s3.example' } } };
  const proxied = mutate(pod(), one);
  const { initContainers = [] } = proxied.spec;
  const before = initContainers.map((each) => ({ ...each, image: 'registry.example/svc/older:0.9.0' }));
  assert.equal(mutate(withSpec(proxied, { initContainers: before }), one), proxied);
});

again('sets the volume of another version’s image anew, and keeps one of a mirror', () => {
  const from = (reference: string) => {
    const one = pod({
      volumes: [{ name: 'svc-wrapper', image: { reference, pullPolicy: 'IfNotPresent' } }],
    });
    const complete = { name: '', pod: one };
    const delivered = { ...mirroring, wrapperDelivery: 'image' as const };
    const mutation = mutatePod(one, planOf(complete), delivered, surroundingsOf(complete));
    return mutation.kind === 'pod' && mutation.pod.spec.volumes?.[0]?.image?.reference;
  };
  assert.is(from('registry.example/svc/wrapper:0.9.0'), defaults.wrapperImage);
  const mirrored = 'mirror.example/svc/wrapper:1.0.0';
  assert.is(from(mirrored), mirrored);
});

again('sets a folder of the node anew that another version has kept elsewhere', () => {
  const onNodes = { ...defaults, wrapperDelivery: 'host' as const };
  const from = (path: string, type: string) =>
    pod({ volumes: [{ name: 'svc-wrapper', hostPath: { path, type } }] });
  const level = { podSecurity: 'privileged', nativeSidecars: true, images: new Map() } as const;
  const mutated = (path: string, type: string) => mutatePod(from(path, type), plan, onNodes, level);
  const older = mutated('/var/lib/svc/wrapper', 'Directory');
  assert.equal(older.kind === 'pod' && older.pod.spec.volumes?.[0]?.hostPath, {
    path: '/var/lib/svc/wrapper/current',
    type: 'Directory',
  });
  assert.is(mutated('/dev/kvm', 'CharDevice').kind, 'deny');
});

again('leaves containers of its own what the API server and a platform fill in', () => {
  const first = mutate(pod(), { plan: { proxy: { enabled: true, upstream: 'https://s3.example' } } });
  const filledIn = (one: Container) => ({
    ...one,
    ...{ imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log' },
    resources: { requests: { cpu: '1' }, limits: { cpu: '2' } },
    securityContext: { ...one.securityContext, runAsUser: 1_000_680_000 },
    volumeMounts: [...(one.volumeMounts ?? []), ...withToken.volumeMounts],
    ...(one.readinessProbe && { readinessProbe: { ...one.readinessProbe, failureThreshold: 3 } }),
  });
  const filled = withSpec(first, { initContainers: (first.spec.initContainers ?? []).map(filledIn) });
  const again = mutate(filled, { plan: { proxy: { enabled: true, upstream: 'https://s3.example' } } });
  assert.equal(again, filled);
});

again('refuses what is somebody else’s', () => {
  for (const change of [{ command: ['/bin/sh', '-c', 'true'] }, { args: ['more'] }]) {
    const changed = everywhere(mutate(pod()), change);
    assert.equal(mutatePod(changed, plan, defaults, surroundingsOf({ name: '', pod: changed })), {
      kind: 'deny',
      errors: ["container svc-wrapper: the name is reserved for the operator's own container"],
    });
  }
});

again('narrows its token once another webhook has given the pod a group, and the other way round', () => {
  const modeOf = ({ spec }: Pod) =>
    spec.volumes?.find(({ name }) => name === 'svc-wrapper-token')?.projected?.defaultMode;
  const first = mutate(pod());
  assert.is(modeOf(first), 0o444);
  const grouped = mutate(withSpec(first, { securityContext: { fsGroup: 2000 } }));
  assert.is(modeOf(grouped), 0o440);
  assert.equal(mutate(grouped), grouped);
  assert.is(modeOf(mutate(withSpec(grouped, { securityContext: {} }))), 0o444);
});

again(
  'gives the token of an operator before this one its name, and leaves a volume of that name that is somebody’s',
  () => {
    const proxied = { plan: { proxy: { enabled: true, upstream: 'https://s3.example' } } };
    const renamed = (from: Pod): Pod =>
      JSON.parse(JSON.stringify(from).replaceAll('"svc-wrapper-token"', '"svc-token"'));
    const isToken = ({ name }: { readonly name: string }) => name === 'svc-wrapper-token';
    for (const one of [{}, proxied]) {
      const now = mutate(pod(), one);
      assert.match(JSON.stringify(now), '"svc-wrapper-token"');
      assert.equal(mutate(renamed(now), one), now);
      const both = [...(renamed(now).spec.volumes ?? []), ...(now.spec.volumes ?? []).filter(isToken)];
      const once = mutate(withSpec(renamed(now), { volumes: both }), one).spec.volumes?.map(
        ({ name }) => name,
      );
      assert.is(new Set(once).size, once?.length);
    }
    const own = { name: 'svc-token', emptyDir: {} };
    const app = container({ volumeMounts: [{ name: own.name, mountPath: '/mine' }] });
    const { volumes = [] } = mutate(pod({ containers: [app], volumes: [own] })).spec;
    assert.equal(
      volumes.find(({ name }) => name === own.name),
      own,
    );
  },
);

again.run();
