import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ApplicationOutcome, complaints, type Row, rounded } from './compare.ts';

const test = suite('what an application may cost through the proxy');

const row: Row = {
  ...{ name: 'one', title: 'One', version: '1' },
  versitygw: { result: 'passes', bytes: 1, requests: 2 },
  minio: { result: 'fails' },
};
const passes = (bytes: number, requests: number): ApplicationOutcome => ({
  result: 'passes',
  bytes,
  requests,
});

test('as recorded, or better', () => {
  assert.equal(complaints(row, 'versitygw', passes(1, 2)), []);
  assert.equal(complaints(row, 'versitygw', passes(1.14, 2.29)), []);
  assert.equal(complaints(row, 'versitygw', passes(0.5, 0.5)), []);
  assert.equal(complaints(row, 'minio', { result: 'fails' }), []);
});

test('more bytes or requests than recorded', () => {
  assert.equal(complaints(row, 'versitygw', passes(1.2, 2)).length, 1);
  assert.equal(complaints(row, 'versitygw', passes(1, 2.4)).length, 1);
  assert.equal(complaints(row, 'versitygw', passes(9, 9)).length, 2);
  assert.equal(complaints({ ...row, slack: 10 }, 'versitygw', passes(9, 9)), []);
});

test('another result than recorded, a better one too', () => {
  assert.equal(complaints(row, 'versitygw', { result: 'fails' }).length, 1);
  assert.equal(complaints(row, 'minio', passes(1, 1)).length, 1);
  assert.equal(complaints(row, 'minio', { result: 'fails at the store too' }).length, 1);
  assert.equal(complaints(undefined, 'minio', passes(1, 1)).length, 1);
});

test('ratios have two decimals, large ones one', () => {
  assert.equal([rounded(1.23456), rounded(12.3456)], [1.23, 12.3]);
});

test.run();
