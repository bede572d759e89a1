import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rules } from '../../../src/cluster/score/factors.ts';
import { scoreOf } from '../../../src/cluster/score/score-of.ts';
import { bestProtection, factsOf, plainPod, protectedPod, wrappedContainer } from './facts.ts';
import { vectors } from './vectors.ts';

const test = suite('scoreOf');

for (const { title, facts, score, points = {} } of vectors) {
  test(`scores ${title}`, () => {
    const found = scoreOf(facts);
    const given = Object.fromEntries(found.addends.map((one) => [one.name, one.points]));
    assert.is(found.score, score, JSON.stringify(given));
    for (const [name, expected] of Object.entries(points)) assert.is(given[name], expected, name);
  });
}

test('has weights that sum to 100, each of one name', () => {
  assert.is(
    rules.reduce((sum, { of }) => sum + of, 0),
    100,
  );
  assert.is(new Set(rules.map(({ name }) => name)).size, rules.length);
});

const findings = (...pods: Parameters<typeof factsOf>[0]) =>
  scoreOf(factsOf(pods)).findings.map(({ id, message }) => `${id}: ${message}`);

test('finds Secrets of every kind once, and not those for pulling images or for the proxy', () => {
  const key = { valueFrom: { secretKeyRef: { name: 'db', key: 'p' } } };
  const pod = protectedPod(
    [wrappedContainer({ env: [{ name: 'P', ...key }] }), { name: 'svc-proxy', env: [{ name: 'Q', ...key }] }],
    {
      imagePullSecrets: [{ name: 'registry' }],
      initContainers: [{ name: 'init', envFrom: [{ secretRef: { name: 'seed' } }] }],
      volumes: [
        { name: 'svc-wrapper', emptyDir: {} },
        { name: 'tls', secret: { secretName: 'cert' } },
        {
          name: 'mixed',
          projected: { sources: [{ secret: { name: 'more' } }, { configMap: { name: 'x' } }] },
        },
      ],
    },
  );
  const one = bestProtection({ pod });
  assert.equal(findings(one, one), [
    'secret-reference: A Kubernetes Secret reaches the pod as variables of container init (Secret seed).',
    'secret-reference: A Kubernetes Secret reaches the pod as variable P of container app (Secret db).',
    'secret-reference: A Kubernetes Secret reaches the pod as volume tls (Secret cert).',
    'secret-reference: A Kubernetes Secret reaches the pod as volume mixed (Secret more).',
  ]);
});

test('finds pods and containers that run without the wrapper', () => {
  const half = bestProtection({ pod: protectedPod([wrappedContainer(), { name: 'log' }]) });
  assert.equal(findings(half, bestProtection({ pod: plainPod() })), [
    'unprotected-pods: 1 of 2 pods run without the wrapper; recreate them.',
    'unwrapped-container: Container log runs without the wrapper.',
  ]);
});

test('finds a pod that opted out, a label that is gone and credentials past the proxy', () => {
  const out = { ...plainPod(), metadata: { annotations: { 'svc/inject': 'false' } } };
  const bare = {
    ...protectedPod([wrappedContainer({ env: [{ name: 'AWS_SECRET_ACCESS_KEY' }] })]),
    metadata: {},
  };
  const ids = scoreOf(factsOf([bestProtection({ pod: out }), bestProtection({ pod: bare })])).findings;
  assert.equal(
    ids.map(({ id }) => id),
    ['unprotected-pods', 'opted-out', 'missing-label', 'store-credentials'],
  );
});

test('lists at most twenty findings', () => {
  const volumes = Array.from({ length: 50 }, (_, n) => ({ name: `v${n}`, secret: { secretName: 's' } }));
  assert.is(findings(bestProtection({ pod: protectedPod(undefined, { volumes }) })).length, 20);
});

test('says whether every pod carries the wrapper', () => {
  const wrapped = bestProtection();
  assert.is(scoreOf(factsOf([wrapped])).protected, true);
  assert.is(scoreOf(factsOf([wrapped, bestProtection({ pod: plainPod() })])).protected, false);
  assert.is(scoreOf(factsOf([])).protected, false);
});

for (const [subPath, carried] of [
  ['svc', true],
  [undefined, false],
  ['elsewhere', false],
] as const) {
  test(`${carried ? 'takes' : 'does not take'} the folder ${subPath} of an image's volume for the wrapper's`, () => {
    const mount = { name: 'svc-wrapper', mountPath: '/svc', readOnly: true, ...(subPath && { subPath }) };
    const volumes = [{ name: 'svc-wrapper', image: { reference: 'svc/wrapper:1' } }];
    const pod = protectedPod([wrappedContainer({ volumeMounts: [mount] })], { volumes });
    assert.is(scoreOf(factsOf([bestProtection({ pod })])).protected, carried);
  });
}

test.run();
