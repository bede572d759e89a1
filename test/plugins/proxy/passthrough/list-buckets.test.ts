import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutBucket } from '../../../../src/plugins/proxy/passthrough/list-buckets.ts';

const test = suite('list of buckets');

const xml = '<Buckets><Bucket><Name>a</Name></Bucket>\n<Bucket><Name>svc-state</Name></Bucket></Buckets>';

test('only the bucket of that very name is left out', () => {
  assert.is(withoutBucket(xml, 'svc-state'), '<Buckets><Bucket><Name>a</Name></Bucket>\n</Buckets>');
  assert.is(withoutBucket(xml, 'svc'), xml);
  assert.is(withoutBucket(xml, undefined), xml);
});

test.run();
