import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { answerBytes } from '../../../../src/plugins/operator/webhook/respond.ts';
import { readReview } from '../../../../src/plugins/operator/webhook/review.ts';
import { sizeOfJson } from '../../../../src/runtime/bounds/bounded-json.ts';
import { reviewOf } from './support/review-of.ts';

const test = suite('AdmissionReview');

function read(text: string) {
  const bytes = Buffer.from(text);
  return readReview(bytes, sizeOfJson(bytes));
}

test('of a pod is read', () => {
  const request = read(
    JSON.stringify(reviewOf({ spec: { containers: [{ name: 'app' }] } }, { dryRun: true })),
  );
  assert.equal(request, {
    uid: 'review-1',
    operation: 'CREATE',
    namespace: 'team',
    name: '',
    dryRun: true,
    user: 'somebody',
    pod: { metadata: {}, spec: { containers: [{ name: 'app' }] } },
  });
});

const pod = { spec: { containers: [] } };

for (const [what, text, why] of [
  ['no JSON', '{', 'it is no JSON'],
  ['another kind', '{"kind":"Pod"}', 'it is of another kind'],
  ['null', 'null', 'it is of another kind'],
  ['no request', '{"kind":"AdmissionReview"}', 'it is not about a pod'],
  [
    'another object',
    JSON.stringify(reviewOf(pod, { kind: { kind: 'Deployment' } })),
    'it is not about a pod',
  ],
  ['a subresource', JSON.stringify(reviewOf(pod, { subResource: 'binding' })), 'it is not about a pod'],
  ['no containers', JSON.stringify(reviewOf({ spec: {} })), 'its pod has no containers'],
  ['no uid', JSON.stringify(reviewOf(pod, { uid: '' })), 'request.uid is missing'],
  ['no namespace', JSON.stringify(reviewOf(pod, { namespace: undefined })), 'request.namespace is missing'],
] as const) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => read(text),
      (error: Error) => error.message === `The request is not an AdmissionReview of a pod: ${why}`,
    );
  });
}

const large = { args: Array(210_000).fill('a') };
const many = (count: number, name: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, 'x']));

test('of a pod with more than anybody needs is read as far as to know whether it asks for protection', () => {
  const labels = { app: 'shop' };
  const annotations = { 'example.com/a': 'x', 'SVC/\u0131nject': 'é', 'svc/vault-role': '"shop"' };
  const object = { metadata: { name: 'n', labels, annotations }, spec: { containers: [large] } };
  const { pod, excess, ...rest } = read(JSON.stringify(reviewOf(object, { name: 'n', dryRun: true })));
  const of = { uid: 'review-1', operation: 'CREATE', namespace: 'team', name: 'n' };
  assert.equal(rest, { ...of, dryRun: true, user: 'somebody' });
  const { 'example.com/a': _, ...ours } = annotations;
  assert.equal(pod.metadata, { generateName: undefined, labels, annotations: ours });
  assert.equal(pod.spec, { containers: [] });
  assert.match(excess?.error ?? '', /at most 200000 names and values, its review has 2100\d\d/);
  assert.is(excess?.hidesLabels, false);
});

test('of a large pod has at most as many labels and annotations of svc as are admitted', () => {
  const metadata = { labels: many(20_000, 'l'), annotations: many(20_000, 'svc/a') };
  const { pod, excess } = read(JSON.stringify(reviewOf({ metadata, spec: { containers: [large] } })));
  assert.is(Object.keys(pod.metadata.annotations ?? {}).length, 101);
  assert.is(excess?.hidesLabels, true);
});

test('is answered with the group, version and kind that the API server expects', () => {
  assert.equal(JSON.parse(answerBytes('review-1', { kind: 'skip', reason: 'none' }).head), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'review-1', allowed: true },
  });
});

test.run();
