import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Denials } from '../../../src/objects/upstream/s3-upstream.ts';
import { recordingLog } from '../../plugins/proxy/support/serve.ts';
import { localStore, upstreamOf } from './support.ts';

const test = suite('a store that refuses the proxy');

test('is told of at once and then once a minute, with how often', () => {
  const log = recordingLog();
  const denials = new Denials(log);
  for (const now of [0, 1, 59_999, 60_000, 60_001]) denials.note('GET', 403, now);
  assert.equal(
    log.lines.map(({ event, fields }) => [event, fields.count]),
    [
      ['upstream.denied', 1],
      ['upstream.denied', 3],
    ],
  );
});

test('is not seen in other refusals', () => {
  const log = recordingLog();
  const denials = new Denials(log);
  for (const status of [200, 304, 400, 404, 412, 500]) denials.note('GET', status, 0);
  assert.is(log.lines.length, 0);
});

test('shows in the log although the caller gets the answer', async () => {
  const store = await localStore((_request, response) => response.writeHead(403).end());
  const log = recordingLog();
  const upstream = upstreamOf(store.url, { log });
  const { status, body } = await upstream.send({ method: 'GET', bucket: 'bkt', key: 'k' });
  body.resume();
  assert.is(status, 403);
  assert.is(log.lines[0]?.event, 'upstream.denied');
  upstream.close();
  await store.stop();
});

test.run();
