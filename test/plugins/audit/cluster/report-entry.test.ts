import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WorkloadFacts } from '../../../../src/cluster/score/contract.ts';
import { scoreOf } from '../../../../src/cluster/score/score-of.ts';
import { reportEntry } from '../../../../src/plugins/audit/cluster/evaluate.ts';
import { bestProtection, factsOf, plainPod, protectedPod } from '../../../cluster/score/facts.ts';

const test = suite("the operator's word about a workload");

const unknown = (pod = protectedPod()) => ({ pod, agent: undefined, reports: [] });
const told = scoreOf(factsOf([bestProtection()]));
const { kind, name, score, pods, addends, findings } = told;
const report = { kind, name, score, pods, addends, findings };
const status = (more = {}, leftOut = 0) => ({
  summary: { workloads: 1, protected: 1, lowestScore: 0, leftOut },
  workloads: [{ ...report, ...more }],
});

function because(
  facts: WorkloadFacts,
  of: Parameters<typeof reportEntry>[0],
  alive = true,
): string | undefined {
  const operator = alive ? ({ alive } as const) : ({ alive, because: 'It is gone.' } as const);
  const entry = reportEntry(of, operator, facts, scoreOf(facts));
  return 'because' in entry ? entry.because : undefined;
}

const seen = factsOf([unknown()]);

test('is taken where it agrees with what is there', () => {
  assert.is(because(seen, status()), undefined);
  const mixed = factsOf([unknown(plainPod()), unknown()]);
  assert.is(because(mixed, status({ pods: 2 })), undefined);
});

test('is not taken from an operator that is gone, or where there is none', () => {
  assert.is(because(seen, status(), false), 'It is gone.');
  assert.match(because(seen, undefined) ?? '', /no ProtectionReport yet/);
  assert.match(because(seen, status({ name: 'other' })) ?? '', /does not know it yet/);
  assert.match(because(seen, status({ name: 'other' }, 3)) ?? '', /no room/);
});

test('is not taken where it tells of other pods', () => {
  assert.match(because(seen, status({ pods: 2 })) ?? '', /has 2 pods of it, but there are 1/);
  assert.match(because(factsOf([unknown(plainPod())]), status()) ?? '', /pods that no longer exist/);
});

test('is not taken where its parts do not make its score', () => {
  assert.match(because(seen, status({ score: score - 1 })) ?? '', /contradicts itself/);
  const inflated = addends.map((one) => ({ ...one, points: one.of + 1 }));
  assert.match(because(seen, status({ addends: inflated })) ?? '', /contradicts itself/);
});

test.run();
