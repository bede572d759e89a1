import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Mutation } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { checkInvariants } from './invariants.ts';
import { startedByWrapper } from './kubelet.ts';
import { defaultsOf, type PodCase, planOf, surroundingsOf } from './pods/case.ts';
import { podCases } from './pods/index.ts';

const table = suite('pods as they are mutated');

const mutate = (one: PodCase, pod: Pod = one.pod): Mutation =>
  mutatePod(pod, planOf(one), defaultsOf(one), surroundingsOf(one));

table('has every kind of pod, each under a name of its own', () => {
  assert.ok(podCases.length >= 60, `${podCases.length} pods`);
  assert.is(new Set(podCases.map(({ name }) => name)).size, podCases.length);
});

for (const one of podCases) {
  table(one.name, () => {
    const before = structuredClone(one.pod);
    const mutation = mutate(one);
    assert.equal(one.pod, before, 'what came in is not changed');
    if (one.denied !== undefined || mutation.kind === 'deny') {
      matchAll(mutation.kind === 'deny' ? mutation.errors : [], one.denied ?? []);
      return;
    }
    checkInvariants(one, mutation.pod, (pod) => mutate(one, pod));
    checkCommands(one, mutation.pod);
    checkVariables(one, mutation.pod);
    if (one.warns !== undefined) matchAll(mutation.warnings, one.warns);
  });
}

function matchAll(texts: readonly string[], wanted: readonly RegExp[]): void {
  assert.is(texts.length, wanted.length, texts.join('\n'));
  for (const [at, pattern] of wanted.entries()) assert.match(texts[at] ?? '', pattern);
}

function checkCommands({ runs = {} }: PodCase, pod: Pod): void {
  for (const [name, argv] of Object.entries(runs))
    assert.equal(startedByWrapper(named(pod, name)), argv, name);
}

function checkVariables({ variables = {} }: PodCase, pod: Pod): void {
  for (const [name, wanted] of Object.entries(variables)) {
    const { env = [] } = named(pod, name);
    for (const [variable, value] of Object.entries(wanted)) {
      assert.equal(
        env.filter((one) => one.name === variable).map((one) => one.value),
        value === null ? [] : [value],
        variable,
      );
    }
  }
}

function named({ spec }: Pod, name: string) {
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((one) => one.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

table.run();
