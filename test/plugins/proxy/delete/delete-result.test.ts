import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { s3Error } from '../../../../src/core/s3/error.ts';
import {
  deletedKeys,
  emptyResult,
  withRefusals,
} from '../../../../src/plugins/proxy/operations/delete-objects.ts';

const test = suite('results of DeleteObjects');

const refusal = { object: { key: 'a&b', versionId: 'v1' }, error: s3Error('AccessDenied', 'no') };
const shown =
  '<Error><Key>a&amp;b</Key><VersionId>v1</VersionId><Code>AccessDenied</Code><Message>no</Message></Error>';

test('refused keys are added to what the store says', () => {
  const xml = '<DeleteResult xmlns="x"><Deleted><Key>k</Key></Deleted></DeleteResult>';
  assert.is(
    withRefusals(xml, [refusal]),
    `<DeleteResult xmlns="x"><Deleted><Key>k</Key></Deleted>${shown}</DeleteResult>`,
  );
  assert.is(withRefusals('<DeleteResult/>', [refusal]), `<DeleteResult>${shown}</DeleteResult>`);
  assert.is(
    withRefusals('<DeleteResult xmlns="x" />', [refusal]),
    `<DeleteResult xmlns="x" >${shown}</DeleteResult>`,
  );
  assert.ok(withRefusals(emptyResult, [refusal]).endsWith(`${shown}</DeleteResult>`));
});

test('without refusals nothing is touched', () => {
  assert.is(withRefusals('anything', []), 'anything');
});

test('an answer that is no result is not taken for one', () => {
  assert.throws(() => withRefusals('<html></html>', [refusal]));
  assert.throws(() => deletedKeys([], '<html></html>'));
});

test('only the keys that the store says to have deleted are taken for deleted', () => {
  const xml =
    '<DeleteResult><Error><Key>a&amp;b</Key><Code>X</Code></Error><Deleted><Key>c</Key></Deleted></DeleteResult>';
  assert.equal([...deletedKeys(['a&b', 'c', 'a&b'], xml)], ['c']);
  assert.equal([...deletedKeys(['a\u0001', 'c', 'd'], xml)], ['c']);
  assert.equal([...deletedKeys(['c'], '<DeleteResult></DeleteResult>')], []);
});

test.run();
