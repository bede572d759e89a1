import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as listBuckets from '../../../../src/plugins/proxy/operations/list-buckets.ts';
import { refusal } from '../../../objects/s3/refusals.ts';

const test = suite('list of buckets');

const list = (buckets: string) =>
  `<ListAllMyBucketsResult><Buckets>${buckets}</Buckets></ListAllMyBucketsResult>`;
const xml = list('<Bucket><Name>a</Name></Bucket>\n<Bucket><Name>svc-state</Name></Bucket>');

function withoutBucket(text: string, bucket: string | undefined): string {
  const { length, blocks } = listBuckets.withoutBucket(Buffer.from(text), bucket);
  const written = Buffer.concat([...blocks]);
  assert.is(written.length, length);
  return written.toString();
}

test('only the bucket of that very name is left out', () => {
  assert.is(withoutBucket(xml, 'svc-state'), list('<Bucket><Name>a</Name></Bucket>\n'));
  assert.is(withoutBucket(xml, 'svc'), xml);
  assert.is(withoutBucket(xml, undefined), xml);
});

test('however the store writes its name', () => {
  for (const entry of [
    '<Bucket><CreationDate>2020</CreationDate><Name>svc&#45;state</Name></Bucket>',
    '<Bucket ><Name\n> svc-state </Name ></Bucket>',
    '<Bucket><Name>svc-state</Name><Name>b</Name></Bucket>',
  ])
    assert.is(
      withoutBucket(list(`${entry}<Bucket><Name>b</Name></Bucket>`), 'svc-state'),
      list('<Bucket><Name>b</Name></Bucket>'),
    );
});

test('what cannot be read is not passed on', () => {
  for (const text of ['', '<Buckets/>', list('<Bucket><Name>svc-state</Name>'), list('<![CDATA[x]]>')])
    assert.is(
      refusal(() => withoutBucket(text, 'svc-state')),
      'InternalError',
      text,
    );
});

test.run();
