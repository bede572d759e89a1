import * as fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { patchBetween } from '../../../../src/plugins/operator/webhook/decide.ts';
import { answerBytes, piecesOf, responseFor } from '../../../../src/plugins/operator/webhook/respond.ts';

const test = suite('answers to the API server');
const before: Pod = {
  metadata: { name: 'app' },
  spec: { containers: [{ name: 'app', env: [{ name: 'A' }] }] },
};
const after: Pod = {
  metadata: { name: 'app', labels: { 'svc/protected': 'true' } },
  spec: { containers: [{ name: 'app', command: ['/svc/svc-wrapper'], env: [{ name: 'A' }, { name: 'B' }] }] },
};

test('a patch leads from one to the other', () => {
  const subject = structuredClone(before);
  assert.equal(
    applyPatch(subject, patchBetween(before, after)).filter((error) => error !== null),
    [],
  );
  assert.equal(subject, after);
});

/** No member of a pod has the name that applying a patch here would take for the prototype. */
const key = fc.string().filter((name) => name !== '__proto__');

/** Without -0, which JSON does not have. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, inner) => (name === '__proto__' ? undefined : inner));

test('a patch between any two objects leads from one to the other', () => {
  const json = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }).map(plain), { noNullPrototype: true });
  fc.assert(
    fc.property(json, json, (one, other) => {
      const subject = structuredClone(one);
      applyPatch(subject, patchBetween(one as unknown as Pod, other as unknown as Pod));
      assert.equal(subject, other);
    }),
  );
});

test('what is not asked for is let through without a patch', () => {
  assert.equal(responseFor('u', { kind: 'skip', reason: 'no annotation' }), {
    uid: 'u',
    allowed: true,
  });
});

test('an injected pod comes with a patch and its warnings', () => {
  const decision = { kind: 'inject', patch: patchBetween(before, after), serviceConfig: undefined } as const;
  const text = [...piecesOf(answerBytes('u', { ...decision, warnings: ['x'.repeat(300)] }))].join('');
  const { patch, ...rest } = JSON.parse(text).response;
  assert.equal(rest, {
    ...{ uid: 'u', allowed: true, patchType: 'JSONPatch' },
    warnings: [`svc: ${'x'.repeat(245)}`],
  });
  assert.equal(JSON.parse(Buffer.from(patch, 'base64').toString()), patchBetween(before, after));
});

test('a long patch is sent in pieces, which together are the same', () => {
  for (const length of [49_151, 49_152, 49_153, 98_304, 200_000]) {
    const patch = [{ op: 'add', path: '/a', value: '€'.repeat(length / 3) }] as const;
    const decision = { kind: 'inject', patch, warnings: [], serviceConfig: undefined } as const;
    const answer = answerBytes('u', decision);
    const { response } = JSON.parse([...piecesOf(answer)].join(''));
    assert.equal(JSON.parse(Buffer.from(response.patch, 'base64').toString()), patch);
  }
});

test('a refusal names every error', () => {
  const decision = { kind: 'deny', code: 403, errors: ['one is wrong', 'so is two'] } as const;
  const { allowed, status } = responseFor('u', decision);
  assert.is(allowed, false);
  assert.equal(status, {
    ...{ code: 403, reason: 'Forbidden' },
    message: 'svc refuses this pod, because it would start unprotected. 2 errors: one is wrong; so is two',
  });
});

test.run();
