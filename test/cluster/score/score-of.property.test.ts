import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Container } from '../../../src/cluster/kube/pod.ts';
import type { PodProtection, WorkloadFacts } from '../../../src/cluster/score/contract.ts';
import { scoreOf } from '../../../src/cluster/score/score-of.ts';
import { bestReport, protectedPod, wrappedContainer } from './facts.ts';

const test = suite('scoreOf, for any workload');

/** One way in which a pod can be better or worse, worst first. */
const levels = {
  delivery: ['env', 'both', 'fd'],
  lockMode: ['none', 'partial', 'all'],
  coreLimit: [undefined, 0, 1],
  memory: ['plain', 'hidden', 'memfd_secret'],
  agent: ['none', 'uncovered', 'tier 4', 'tier 3', 'tier 1 audit', 'tier 3 kills', 'tier 1'],
  secrets: [2, 1, 0],
  skipVerify: ['true', 'false'],
  wrappedContainers: [0, 1, 2, 3],
  egress: [undefined, true],
} as const;

type Levels = { [K in keyof typeof levels]: number };

const anyLevels = fc.record(
  Object.fromEntries(Object.entries(levels).map(([name, of]) => [name, fc.nat(of.length - 1)])) as {
    [K in keyof Levels]: fc.Arbitrary<number>;
  },
);

const agents: readonly PodProtection['agent'][] = [
  undefined,
  { tier: 1, enforcing: true, covered: false },
  { tier: 4, enforcing: false, covered: true },
  { tier: 3, enforcing: false, covered: true },
  { tier: 1, enforcing: false, covered: true },
  { tier: 3, enforcing: true, covered: true },
  { tier: 1, enforcing: true, covered: true },
];

function protectionAt(at: Levels): PodProtection {
  const wrapped = at.wrappedContainers;
  const report = bestReport();
  const memory = {
    kind: at.memory === 2 ? 'memfd_secret' : 'anonymous',
    bytes: 1,
    locked: at.memory > 0,
    undumped: true,
  };
  const limit = levels.coreLimit[at.coreLimit];
  const told = bestReport({
    delivery: levels.delivery[at.delivery] ?? 'env',
    wrapper: { ...report.wrapper, lockMode: levels.lockMode[at.lockMode], coreLimit: limit } as never,
    application: { ...report.application, coreLimit: limit } as never,
    secretMemory: memory as never,
  });
  const env = [{ name: 'VAULT_SKIP_VERIFY', value: levels.skipVerify[at.skipVerify] ?? 'true' }];
  const containers: Container[] = [0, 1, 2].map((n) =>
    n < wrapped ? wrappedContainer({ name: `c${n}`, env }) : { name: `c${n}` },
  );
  const secrets = Array.from({ length: levels.secrets[at.secrets] ?? 2 }, (_, n) => ({
    name: `s${n}`,
    secret: { secretName: 's' },
  }));
  const volumes = [{ name: 'svc-wrapper', emptyDir: {} }, ...secrets];
  return {
    pod: protectedPod(containers, { volumes }),
    agent: agents[at.agent],
    reports: Array.from({ length: wrapped }, () => told),
  };
}

const factsAt = (pods: readonly Levels[]): WorkloadFacts => ({
  ...{ kind: 'Deployment', namespace: 'a', name: 'b' },
  pods: pods.map(protectionAt),
  egressPolicy: pods.every(({ egress }) => egress === 1) ? true : undefined,
});

test('more protection never lowers it', () => {
  const names = Object.keys(levels) as (keyof Levels)[];
  const steps = fc.tuple(anyLevels, fc.constantFrom(...names));
  fc.assert(
    fc.property(steps, ([at, name]) => {
      fc.pre(at[name] < levels[name].length - 1);
      const better = { ...at, [name]: at[name] + 1 };
      assert.ok(scoreOf(factsAt([better])).score >= scoreOf(factsAt([at])).score);
    }),
    { numRuns: 2_000 },
  );
});

test('a full step up everywhere is worth something', () => {
  const lowest = Object.fromEntries(Object.keys(levels).map((name) => [name, 0])) as Levels;
  const highest = Object.fromEntries(
    Object.entries(levels).map(([name, of]) => [name, of.length - 1]),
  ) as Levels;
  assert.is(scoreOf(factsAt([lowest])).score, 0);
  assert.is(scoreOf(factsAt([highest])).score, 100);
  for (const name of Object.keys(levels)) {
    assert.ok(scoreOf(factsAt([{ ...highest, [name]: 0 }])).score < 100, name);
  }
});

test('it is the sum of its addends, each within its bounds, with a remedy exactly where points are missing', () => {
  fc.assert(
    fc.property(fc.array(anyLevels, { maxLength: 4 }), (pods) => {
      const { score, addends } = scoreOf(factsAt(pods));
      assert.is(
        score,
        addends.reduce((sum, { points }) => sum + points, 0),
      );
      assert.ok(score >= 0 && score <= 100 && Number.isInteger(score));
      for (const { points, of, because, remedy } of addends) {
        assert.ok(points >= 0 && points <= of);
        assert.is(remedy !== undefined, points < of, because);
      }
    }),
  );
});

test('a further pod never raises it, and their order changes nothing but the choice among equal ones', () => {
  fc.assert(
    fc.property(fc.array(anyLevels, { minLength: 1, maxLength: 4 }), anyLevels, (pods, more) => {
      const policy = { egressPolicy: true };
      const before = scoreOf({ ...factsAt(pods), ...policy }).score;
      const after = scoreOf({ ...factsAt([...pods, more]), ...policy }).score;
      assert.ok(after <= before);
      assert.is(scoreOf({ ...factsAt([more, ...pods]), ...policy }).score, after);
    }),
  );
});

test('it is the same each time', () => {
  fc.assert(
    fc.property(fc.array(anyLevels, { maxLength: 3 }), (pods) => {
      assert.equal(scoreOf(factsAt(pods)), scoreOf(structuredClone(factsAt(pods))));
    }),
  );
});

test.run();
