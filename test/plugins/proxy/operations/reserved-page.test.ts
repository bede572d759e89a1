import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scanListing } from '../../../../src/objects/s3/listing.ts';
import {
  isWhollyReserved,
  queryBehind,
  withOwnEcho,
} from '../../../../src/plugins/proxy/operations/list-objects.ts';

const test = suite('pages of reserved keys');

const page = (truncated: boolean, ...keys: string[]) => {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
  const xml = `<ListBucketResult><IsTruncated>${truncated}</IsTruncated>${contents}</ListBucketResult>`;
  return scanListing(Buffer.from(xml));
};

test('a page is left out only when nothing of it is shown and more follows', () => {
  assert.ok(isWhollyReserved(page(true, '.svc/a', '.svc/b'), '.svc/'));
  assert.not.ok(isWhollyReserved(page(false, '.svc/a'), '.svc/'));
  assert.not.ok(isWhollyReserved(page(true, '.svc/a', 'b'), '.svc/'));
  assert.not.ok(isWhollyReserved(page(true), '.svc/'));
});

test('the next page begins behind every reserved key, and keeps what else was asked', () => {
  const query = [
    ['list-type', '2'],
    ['continuation-token', 'abc'],
    ['prefix', '.'],
    ['start-after', '.svc/m'],
  ] as const;
  assert.equal(queryBehind('ListObjectsV2', query, '.svc/'), [
    ['list-type', '2'],
    ['prefix', '.'],
    ['start-after', '.svc/~'],
  ]);
  assert.equal(queryBehind('ListObjectVersions', [['version-id-marker', 'v']], '.svc/'), [
    ['key-marker', '.svc/~'],
  ]);
});

test('the echo is of what the caller asked', () => {
  const echo = (query: Parameters<typeof withOwnEcho>[1], xml = '<R><Marker>.svc/~</Marker></R>') =>
    withOwnEcho('ListObjects', query, Buffer.from(xml)).toString();
  assert.is(echo([]), '<R></R>');
  assert.is(echo([['marker', 'a&$1']]), '<R><Marker>a&amp;$1</Marker></R>');
  for (const none of ['<R><Marker/></R>', '<R></R>', '<R><Marker>', '<R><Marker><a/></Marker></R>'])
    assert.is(echo([['marker', 'a']], none), none);
  const encoded = [
    ['marker', 'a b'],
    ['encoding-type', 'url'],
  ] as const;
  assert.is(echo(encoded), '<R><Marker>a%20b</Marker></R>');
});

test.run();
