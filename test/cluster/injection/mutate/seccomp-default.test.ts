import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Container, ContainerSecurityContext, Pod } from '../../../../src/cluster/kube/pod.ts';
import { container, defaultsOf, type PodCase, planOf, pod, surroundingsOf } from './pods/case.ts';

const test = suite('seccomp profile of protected containers');

const image = 'registry.example/app:1';
const userIs = (user: string) => ({ images: { [image]: { entrypoint: ['/app'], cmd: [], user } } });

function profileOf(spec: Partial<Pod['spec']>, one: Partial<PodCase> = {}): string | undefined {
  return contextOf(spec, one)?.seccompProfile?.type;
}

function contextOf(
  spec: Partial<Pod['spec']>,
  one: Partial<PodCase> = {},
): ContainerSecurityContext | undefined {
  const whole: PodCase = { name: 'seccomp', pod: pod(spec), level: 'privileged', ...one };
  const mutation = mutatePod(whole.pod, planOf(whole), defaultsOf(whole), surroundingsOf(whole));
  assert.is(mutation.kind, 'pod');
  return mutation.kind === 'pod' ? mutation.pod.spec.containers[0]?.securityContext : undefined;
}

const withContext = (securityContext: ContainerSecurityContext): { containers: Container[] } => ({
  containers: [container({ securityContext })],
});
const asRoot = { securityContext: { runAsUser: 0 } };

test('is the runtime’s own for root, which also keeps what it has', () => {
  assert.is(profileOf(asRoot), 'RuntimeDefault');
  assert.is(profileOf(asRoot, { level: 'baseline' }), 'RuntimeDefault');
  const context = contextOf(withContext({ runAsUser: 0, capabilities: { drop: ['ALL'] } }));
  assert.equal(context?.capabilities, { drop: ['ALL'], add: ['IPC_LOCK'] });
});

test('is the runtime’s own where the image says root', () => {
  for (const user of ['', 'root', '0:0']) assert.is(profileOf({}, userIs(user)), 'RuntimeDefault');
  assert.is(profileOf({}, userIs('1000')), undefined);
});

test('stays where the container or its pod names one', () => {
  const unconfined = { type: 'Unconfined' };
  assert.is(profileOf(withContext({ runAsUser: 0, seccompProfile: unconfined })), 'Unconfined');
  assert.is(profileOf({ securityContext: { runAsUser: 0, seccompProfile: unconfined } }), undefined);
});

test('stays where an annotation of former versions names one, which the API server would hold against it', () => {
  const annotated = (key: string): string | undefined => {
    const one = pod(asRoot);
    const annotations = { ...one.metadata.annotations, [key]: 'unconfined' };
    return profileOf({}, { pod: { ...one, metadata: { ...one.metadata, annotations } } });
  };
  assert.is(annotated('container.seccomp.security.alpha.kubernetes.io/app'), undefined);
  assert.is(annotated('container.seccomp.security.alpha.kubernetes.io/other'), 'RuntimeDefault');
  // compared with the profile of the pod alone
  assert.is(annotated('seccomp.security.alpha.kubernetes.io/pod'), 'RuntimeDefault');
});

test('stays for other users, unknown ones, and those that may mount anyway', () => {
  assert.is(profileOf({ securityContext: { runAsUser: 1000 } }), undefined);
  assert.is(profileOf({}, { level: 'baseline' }), undefined);
  assert.is(profileOf(withContext({ runAsUser: 0, privileged: true })), undefined);
  for (const name of ['SYS_ADMIN', 'ALL', 'all', 'CAP_SYS_ADMIN', 'sys_admin'])
    assert.is(profileOf(withContext({ runAsUser: 0, capabilities: { add: [name] } })), undefined);
});

test('stays where the operator is told to leave it', () => {
  assert.is(profileOf(asRoot, { defaults: { seccompDefault: false } }), undefined);
});

test.run();
