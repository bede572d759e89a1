import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { carriesWrapper, hasProtectedPod } from '../../../src/cluster/injection/protected-pods.ts';
import type { Pod } from '../../../src/cluster/kube/pod.ts';
import { plainPod, protectedPod, wrappedContainer } from '../score/facts.ts';

const test = suite('protected pods');
const plain = plainPod().spec.containers;

test('carry the wrapper where one of their containers starts under it', () => {
  assert.is(carriesWrapper(protectedPod()), true);
  assert.is(carriesWrapper(protectedPod([...plain, wrappedContainer()])), true);
  assert.is(carriesWrapper(protectedPod(plain)), false);
  assert.is(carriesWrapper({ ...protectedPod(), metadata: {} }), false);
});

test('carry it in an init container alone, too', () => {
  const initContainers = [wrappedContainer({ name: 'migrate' })];
  assert.is(carriesWrapper(protectedPod(plain, { initContainers })), true);
});

test('do not carry it where something else only starts by its name', () => {
  const named = wrappedContainer({ volumeMounts: [] });
  assert.is(carriesWrapper(protectedPod([named])), false);
  const copier = { name: 'svc-wrapper', command: ['/svc/svc-wrapper', '--copy-to', '/svc-target'] };
  assert.is(carriesWrapper(protectedPod(plain, { initContainers: [copier] })), false);
});

test('count in their namespace until they have ended', () => {
  const inPhase = (phase: string): { pod: Pod } => ({ pod: { ...protectedPod(), status: { phase } } });
  for (const phase of ['Pending', 'Running', 'Unknown']) assert.is(hasProtectedPod([inPhase(phase)]), true);
  assert.is(hasProtectedPod([inPhase('Succeeded'), inPhase('Failed'), { pod: plainPod() }]), false);
});

test.run();
