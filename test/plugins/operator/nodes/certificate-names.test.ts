import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ownerOf } from '../../../../src/plugins/operator/nodes/report-endpoint.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';

const test = suite('names in certificates of agents');
const authority = createCertificateAuthority();

/** As Node writes them for a real certificate. */
function names(options: { uris?: readonly string[]; dnsNames?: readonly string[] }): string | undefined {
  const { cert } = authority.issue({ commonName: 'svc://node-agent', ...options });
  return new X509Certificate(cert).subjectAltName;
}

test('are those of the agent of a node, or of all agents', () => {
  assert.is(ownerOf(names({ uris: ['svc://node-agent'] }), 'a'), 'agent');
  assert.is(ownerOf(names({ uris: ['svc://node-agent/a'] }), 'a'), 'node');
  assert.is(ownerOf(names({ uris: ['svc://other', 'svc://node-agent/a.b-c'] }), 'a.b-c'), 'node');
  assert.not.ok(ownerOf(names({ uris: ['svc://node-agent/a'] }), 'b'));
  assert.not.ok(ownerOf(names({ uris: ['svc://node-agent/a'] }), 'a/b'));
});

test('admit nobody in any other place', () => {
  assert.not.ok(ownerOf(undefined, 'a'));
  assert.not.ok(ownerOf('', 'a'));
  assert.not.ok(ownerOf(names({}), 'a'));
  assert.not.ok(ownerOf(names({ dnsNames: ['svc://node-agent'] }), 'a'));
  assert.not.ok(
    ownerOf(names({ uris: ['svc://node-agents', 'SVC://node-agent', 'svc://node-agent/'] }), 'a'),
  );
});

test('admit nobody by a name that looks like several', () => {
  for (const uri of [
    'x, URI:svc://node-agent',
    'x, URI:svc://node-agent, y',
    'x", URI:svc://node-agent, "y',
  ]) {
    assert.not.ok(ownerOf(names({ uris: [uri] }), 'a'), uri);
    assert.not.ok(ownerOf(names({ dnsNames: [uri] }), 'a'), uri);
  }
});

test('admit nobody by arbitrary text within a name', () => {
  const text = fc.string({ maxLength: 30 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const inside = `${before}, URI:svc://node-agent, ${after}`;
      assert.not.ok(ownerOf(`URI:${JSON.stringify(inside)}`, 'a'));
      assert.is(ownerOf(`DNS:${JSON.stringify(inside)}, URI:svc://node-agent`, 'a'), 'agent');
    }),
  );
});

test.run();
