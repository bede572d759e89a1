import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectServices } from '../../../src/objects/context.ts';
import { createUpload } from '../../../src/objects/multipart/create-upload.ts';
import { serve } from '../../plugins/proxy/support/serve.ts';
import { rawHttp } from '../../support/raw-http.ts';
import { wrapped } from '../parts.ts';

const test = suite('the beginning of an upload');

/** Answer to a Create with a grant of that length, and how often the store was asked. */
async function createWith(grant: number) {
  let asked = 0;
  const context = {
    keys: {
      scheme: { keyName: 'svc', binding: 'key' },
      create: async () => [{ key: Buffer.alloc(32), ciphertext: wrapped(1), keyVersion: 1 }],
    },
    upstream: {
      send: async () => {
        asked++;
        throw new Error('asked');
      },
    },
  } as unknown as ObjectServices;
  const server = await serve({ CreateMultipartUpload: createUpload }, { context });
  const headers = { 'x-amz-grant-read': `id="${'a'.repeat(grant)}"` };
  const { code } = await rawHttp(`${server.url}/bucket/key?uploads`, { method: 'POST', headers });
  await server.stop();
  return { code, asked };
}

test('with more headers than a record may hold is refused before the store hears of it', async () => {
  assert.equal(await createWith(9_000), { code: 'InvalidRequest', asked: 0 });
  assert.equal(await createWith(20_000), { code: 'RequestHeaderSectionTooLarge', asked: 0 });
});

test('with as many as S3 takes goes to the store', async () => {
  assert.is((await createWith(2_000)).asked, 1);
});

test.run();
