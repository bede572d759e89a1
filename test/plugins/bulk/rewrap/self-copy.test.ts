import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Upstream } from '../../../../src/objects/upstream/upstream.ts';
import { copyOntoItself } from '../../../../src/plugins/bulk/rewrap/self-copy.ts';

const test = suite('copy of an object onto itself');

test('nothing is sent where the store named no ETag for the copy to depend on', async () => {
  const sent: unknown[] = [];
  const upstream = { send: (request: unknown) => sent.push(request) } as unknown as Upstream;
  for (const headers of [{}, { etag: '' }]) {
    const copy = copyOntoItself(
      upstream,
      { name: { bucket: 'b', key: 'k' }, headers },
      {},
      AbortSignal.timeout(1_000),
    );
    const error = await copy.then(
      () => undefined,
      (reason: Error) => reason,
    );
    assert.match(String(error?.message), /names no ETag/);
  }
  assert.equal(sent, []);
});

test.run();
