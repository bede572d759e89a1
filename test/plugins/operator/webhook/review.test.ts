import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sizeOfJson } from '../../../../src/core/bounded-json.ts';
import { readReview, writeReview } from '../../../../src/plugins/operator/webhook/review.ts';
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

test('is answered with the group, version and kind that the API server expects', () => {
  assert.equal(JSON.parse(writeReview({ uid: 'review-1', allowed: true })), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'review-1', allowed: true },
  });
});

test.run();
