import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refusal } from '../../../src/objects/upstream/upstream.ts';
import { localStore, upstreamOf } from './support.ts';

const test = suite('refusals of the store');

test('whose body is cut keep their status', async () => {
  const store = await localStore((_request, response) => {
    response.writeHead(412, { 'content-length': '1000' });
    response.write('<Error><Code>Precon', () => response.destroy());
  });
  const upstream = upstreamOf(store.url);
  const error = await refusal(await upstream.send({ method: 'GET', bucket: 'bkt', key: 'k' }));
  assert.is(error.status, 412);
  assert.is(error.code, 'PreconditionFailed');
  upstream.close();
  await store.stop();
});

test.run();
