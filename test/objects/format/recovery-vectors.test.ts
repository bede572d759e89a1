import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import { resolveDecryptSettings } from '../../../src/plugins/bulk/decrypt/settings.ts';
import { openReading } from '../../../src/plugins/bulk/decrypt/source.ts';
import { during, open } from '../../../src/plugins/bulk/engine/open-object.ts';
import { recordingLog } from '../../plugins/proxy/support/serve.ts';
import { VectorStore } from './vector-store.ts';
import { expected, type NamedVector, storedVectors, vectorFolder } from './vectors.ts';

const test = suite('vectors of recovery keys, by svc proxy decrypt');

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'not-a-secret' };

/** What comes of an object with the recovery key alone: no key server is named. */
async function outcome(upstream: URL, { bucket, key, stateBucket }: NamedVector): Promise<string> {
  const env = {
    ...credentials,
    AWS_REGION: 'eu-central-1',
    SVC_PROXY_UPSTREAM: upstream.href,
    SVC_PROXY_RECOVERY_KEY_FILE: `${vectorFolder}recovery-key.txt`,
    ...(stateBucket !== undefined && { SVC_PROXY_STATE_BUCKET: stateBucket }),
  };
  const reading = openReading(resolveDecryptSettings({ env }), env, recordingLog());
  const { signal } = new AbortController();
  try {
    const plaintext = await during(signal, async (user) => {
      const all: Buffer[] = [];
      const { chunks } = await open(reading, bucket, key, user);
      for await (const chunk of chunks) all.push(Buffer.from(chunk));
      return Buffer.concat(all);
    });
    return `plaintext ${plaintext.toString('base64')}`;
  } catch (error) {
    if (error instanceof EnvelopeError) return `refused: ${error.reason}`;
    throw error;
  } finally {
    await reading.close();
  }
}

test('each is read or refused as it says', async () => {
  const vectors = storedVectors(['recovery']);
  assert.ok(vectors.filter(({ expect }) => 'plaintext' in expect).length > 9);
  assert.ok(vectors.filter(({ expect }) => 'refused' in expect).length > 9);
  const store = new VectorStore();
  const upstream = await store.listen();
  try {
    for (const vector of vectors) {
      store.vector = vector;
      assert.is(await outcome(upstream, vector), expected(vector), vector.name);
    }
  } finally {
    store.close();
  }
});

test.run();
