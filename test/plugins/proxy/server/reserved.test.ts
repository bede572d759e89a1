import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isReservedKey } from '../../../../src/plugins/proxy/server/admit-request.ts';

const test = suite('reserved keys');

test('what lies below the prefix is reserved, and the folder itself', () => {
  for (const key of ['.svc/', '.svc/uploads/x', '.svc', '/.svc/x', '.svc//x', '//.svc', '.svc/../x'])
    assert.ok(isReservedKey(key, '.svc/'), key);
});

test('what only looks like it is not', () => {
  for (const key of ['', 'a/.svc/x', '.svcx', '.svcx/y', 'x.svc/', '.SVC/x', 'svc/x', '.sv/c'])
    assert.not.ok(isReservedKey(key, '.svc/'), key);
});

test('no number of empty segments leads around it', () => {
  const slashes = fc.nat({ max: 4 }).map((count) => '/'.repeat(count));
  fc.assert(
    fc.property(slashes, slashes, fc.string(), (before, between, rest) => {
      assert.ok(isReservedKey(`${before}.svc/${between}${rest}`, '.svc/'));
    }),
  );
});

test.run();
