import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperationHandler } from '../../../../src/objects/context.ts';
import { rawBytes } from '../../../support/raw-http.ts';
import { serve } from '../support/serve.ts';

const test = suite('heads that can be read in two ways');

const served: OperationHandler = async (_context, { answer }) => {
  answer.head(200, {});
  await answer.end('served');
};

async function statusOf(head: string): Promise<number> {
  const server = await serve({ GetObject: served });
  const { status } = await rawBytes(server.url, head);
  await server.stop();
  return status;
}

for (const head of [
  'GET /bkt/k HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET /bkt/k HTTP/1.1\r\nhost: a\r\nX-Other: c\r\nHOST: a\r\n\r\n',
  'GET /bkt/k\r\n\r\n',
  'GET /bkt/k HTTP/0.9\r\nHost: a\r\n\r\n',
  'GET /bkt/k HTTP/2.0\r\nHost: a\r\n\r\n',
]) {
  test(`${JSON.stringify(head)} is refused`, async () => {
    assert.is(await statusOf(head), 400);
  });
}

for (const head of ['GET /bkt/k HTTP/1.1\r\nHost: a\r\n\r\n', 'GET /bkt/k HTTP/1.0\r\nHost: a\r\n\r\n']) {
  test(`${JSON.stringify(head)} is served`, async () => {
    assert.is(await statusOf(head), 200);
  });
}

test.run();
