import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readWebhooks } from '../../../../src/plugins/operator/certificates/webhook-bundle.ts';

const test = suite('patch of a webhook configuration');
const bundle = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const encoded = Buffer.from(bundle).toString('base64');

const webhook = fc.record(
  {
    name: fc.string(),
    failurePolicy: fc.constantFrom('Fail', 'Ignore'),
    clientConfig: fc.record(
      { url: fc.webUrl(), caBundle: fc.constantFrom(encoded, 'b3RoZXI=', '') },
      { requiredKeys: ['url'], noNullPrototype: true },
    ),
  },
  { requiredKeys: ['name', 'clientConfig'], noNullPrototype: true },
);

test('leaves all with the bundle and everything else alone, and then has nothing more to do', () => {
  const plain = { noNullPrototype: true };
  const metadata = fc.record({ resourceVersion: fc.nat().map(String) }, plain);
  const configurations = fc.record({ metadata, webhooks: fc.array(webhook) }, plain);
  fc.assert(
    fc.property(configurations, (configuration) => {
      const patched = structuredClone(configuration);
      const { patch, count, failOpen } = readWebhooks(configuration, bundle);
      const failures = applyPatch(patched, patch as never);
      assert.ok(failures.every((failure) => failure === null));
      const expected = configuration.webhooks.map((one) => ({
        ...one,
        clientConfig: { ...one.clientConfig, caBundle: encoded },
      }));
      assert.equal(patched, { ...configuration, webhooks: expected });
      assert.equal(readWebhooks(patched, bundle).patch, []);
      assert.is(count, configuration.webhooks.length);
      assert.is(
        failOpen.length,
        configuration.webhooks.filter((one) => one.failurePolicy === 'Ignore').length,
      );
    }),
  );
});

test('is refused on another version of the configuration', () => {
  const configuration = { metadata: { resourceVersion: '7' }, webhooks: [{ name: 'a', clientConfig: {} }] };
  const { patch } = readWebhooks(configuration, bundle);
  const newer = { ...structuredClone(configuration), metadata: { resourceVersion: '8' } };
  assert.ok(applyPatch(newer, patch as never).some((failure) => failure !== null));
});

test('survives what is no configuration', () => {
  for (const odd of [null, {}, { webhooks: 'x' }, { webhooks: [null] }, 7]) {
    assert.ok(readWebhooks(odd, bundle).count <= 1);
  }
});

test.run();
