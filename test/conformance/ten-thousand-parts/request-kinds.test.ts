import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LoggedRequest } from '../../support/types.ts';
import { keyServerKind, storeKind } from './request-kinds.ts';

const test = suite('kinds of requests');

const request = (method: string, path: string): LoggedRequest => ({
  ...{ at: 0, method, path, requestHeaders: {}, status: 200, requestBytes: 0, responseBytes: 0, done: true },
});

const kinds: readonly [method: string, path: string, kind: string][] = [
  ['POST', '/b/k?uploads=', 'create upload'],
  ['PUT', '/b/k?partNumber=7&uploadId=u', 'upload part'],
  ['PUT', '/b/.svc/uploads/hash/7/etag/nonce/1/dek', 'PUT record'],
  ['GET', '/b/k?uploadId=u', 'list parts'],
  ['GET', '/b?list-type=2&prefix=.svc%2Fuploads%2F', 'list records'],
  ['PUT', '/b/.svc/manifests/hash/id', 'PUT manifest'],
  ['POST', '/b/k?uploadId=u', 'complete'],
  ['POST', '/b?delete=', 'delete many'],
  ['GET', '/b/k?partNumber=3', 'GET object'],
  ['HEAD', '/b/k', 'HEAD object'],
];

for (const [method, path, kind] of kinds) {
  test(`${method} ${path}`, () => assert.is(storeKind(request(method, path)), kind));
}

test('of the key server are their paths', () => {
  assert.is(keyServerKind(request('POST', '/v1/transit/encrypt/svc')), 'POST transit/encrypt/svc');
});

test.run();
