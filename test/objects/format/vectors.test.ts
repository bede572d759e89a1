import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Transit, VaultError } from '../../../src/keyserver/contract.ts';
import { HangGuard } from '../../../src/keyserver/hang-guard.ts';
import type { ObjectMetrics } from '../../../src/objects/context.ts';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import { createDataKeys } from '../../../src/objects/keys/data-keys.ts';
import { type OpenObjects, openObjects } from '../../../src/objects/open-objects.ts';
import { TransitKey } from '../../../src/plugins/dev/keys/transit-keys.ts';
import type { ProxyConfig } from '../../../src/plugins/proxy/config.ts';
import { recordingLog } from '../../plugins/proxy/support/serve.ts';
import { vectorFiles } from '../../tools/format-vectors/vector-files.ts';
import { VectorStore } from './vector-store.ts';
import { expected, forgedChecksum, type NamedVector, storedVectors, vectorFolder } from './vectors.ts';

const test = suite('vectors of the stored format');

test('the files are what the generator writes', () => {
  const written = vectorFiles();
  const found = readdirSync(vectorFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(json|txt)$/.test(file),
  );
  assert.equal(found.sort(), written.map(([name]) => name).sort());
  for (const [name, text] of written) assert.is(readFileSync(`${vectorFolder}${name}`, 'utf8'), text, name);
});

/** Opens what the exported key of the vectors wraps, as the key server would. */
function vectorTransit(): Transit {
  const { data } = JSON.parse(readFileSync(`${vectorFolder}transit-key.json`, 'utf8'));
  const versions = Object.values(data.keys) as string[];
  const key = new TransitKey({ created: '', versions, minDecryptionVersion: 1 });
  return {
    keyName: data.name,
    wrap: () => Promise.reject(new Error('nothing is written')),
    async unwrap(items) {
      try {
        return items.map(({ ciphertext, associatedData = '' }) =>
          key.decrypt(ciphertext, Buffer.from(associatedData)),
        );
      } catch (cause) {
        throw new VaultError('rejected', 'refused', { cause });
      }
    },
  };
}

const metrics: ObjectMetrics = { request() {}, refused() {}, bytes() {} };

function reading(upstream: URL, options: Partial<ProxyConfig>): OpenObjects {
  const config = {
    ...{ upstream, region: 'eu-central-1', upstreamSigning: 'auto', upstreamChecksum: 'crc32' },
    ...{ reservedPrefix: '.svc/', stateBucket: undefined, requireBound: false, unencryptedReads: 'allow' },
    ...{ strict: false, spoolDir: '/nowhere', spoolSize: 0, verifyBuffer: 1 << 20, verifyBudget: 1 << 20 },
    recoveryRecipients: [],
    ...options,
  } as unknown as ProxyConfig;
  const env = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'not-a-secret' };
  const keys = createDataKeys(vectorTransit(), config);
  const log = recordingLog();
  const hangGuard = new HangGuard({ timeoutMs: 5_000, log });
  return openObjects({ config, keys, hangGuard, metrics, log, env, keysAhead: false });
}

/** @param sum whether the kept checksum is asked for */
async function outcome(
  { reader }: OpenObjects,
  { bucket, key, expect }: NamedVector,
  sum = true,
): Promise<string> {
  const { signal } = new AbortController();
  try {
    const object = await reader.stat({ bucket, key }, { signal });
    const layout = await reader.layout(object, { signal, atEnd() {} });
    const { checksum: kept, md5 } = sum ? await reader.digests(object, layout, signal) : {};
    if (sum && md5 !== ('md5' in expect ? expect.md5 : undefined)) return `MD5 ${md5}`;
    const told = kept && `${kept.algorithm} ${kept.type} ${kept.text}`;
    if (sum && told !== ('checksum' in expect ? expect.checksum : undefined)) return `checksum ${told}`;
    const chunks: Buffer[] = [];
    for await (const chunk of reader.plaintext(object, layout, undefined, { signal }))
      chunks.push(Buffer.from(chunk));
    return `plaintext ${Buffer.concat(chunks).toString('base64')}`;
  } catch (error) {
    if (error instanceof EnvelopeError) return `refused: ${error.reason}`;
    if (error instanceof VaultError && error.kind === 'rejected') return 'refused: key-refused';
    throw error;
  }
}

const vectors = storedVectors();

for (const streamed of [false, true])
  test(`the proxy reads or refuses each as it says, bodies ${streamed ? 'streamed' : 'in memory'}`, async () => {
    const store = new VectorStore();
    const upstream = await store.listen();
    try {
      for (const vector of vectors) {
        store.vector = vector;
        const context = reading(upstream, {
          stateBucket: vector.stateBucket,
          ...(streamed && { verifyBuffer: 0 }),
        });
        const found = await outcome(context, vector);
        context.close();
        assert.is(found, expected(vector), vector.name);
      }
    } finally {
      store.close();
    }
  });

test('with a key server, what is sealed to recovery keys besides is read all the same', async () => {
  const sealed = storedVectors(['recovery']).filter(
    ({ name, expect }) => 'plaintext' in expect && name !== 'recovery/read-single-rewrapped',
  );
  assert.ok(sealed.length > 7);
  const store = new VectorStore();
  const upstream = await store.listen();
  try {
    for (const vector of sealed) {
      store.vector = vector;
      const context = reading(upstream, {});
      assert.is(await outcome(context, vector), expected(vector), vector.name);
      context.close();
    }
  } finally {
    store.close();
  }
});

test('an object in one piece whose checksum does not open is read by who does not ask for it', async () => {
  const forged = vectors.filter(
    ({ name, expect }) =>
      name.startsWith('read/checksum-single') && 'checksum' in expect && expect.checksum === forgedChecksum,
  );
  assert.ok(forged.length > 2);
  const store = new VectorStore();
  const upstream = await store.listen();
  try {
    for (const vector of forged) {
      store.vector = vector;
      const context = reading(upstream, {});
      const { plaintext } = vector.expect as { plaintext: string };
      assert.is(await outcome(context, vector, false), `plaintext ${plaintext}`, vector.name);
      context.close();
    }
  } finally {
    store.close();
  }
});

test('a reader that knows format 1 alone refuses format 2 by its algorithm, which it looks at first', () => {
  const segmented = vectors.filter(({ name }) => name.startsWith('read/format-2'));
  assert.ok(segmented.length > 10);
  for (const { name, bucket, key, objects } of segmented) {
    const { metadata = {} } = objects.find((one) => one.bucket === bucket && one.key === key) ?? {};
    assert.is(metadata['svc-algorithm'], 'AES-256-GCM-STREAM-64KiB', name);
  }
});

test('where unencrypted reads are denied, nothing without svc metadata is read', async () => {
  const store = new VectorStore();
  const upstream = await store.listen();
  try {
    const plain = vectors.filter(({ expect }) => 'unencrypted' in expect);
    assert.is(plain.length, 4);
    for (const vector of plain) {
      store.vector = vector;
      const context = reading(upstream, { unencryptedReads: 'deny' });
      assert.is(await outcome(context, vector), expected(vector, true), vector.name);
      context.close();
    }
  } finally {
    store.close();
  }
});

test.run();
