import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error, s3Error } from '../../../../src/objects/s3/error.ts';
import { scanAnswer } from '../../../../src/objects/upstream/upstream.ts';
import * as results from '../../../../src/plugins/proxy/operations/delete-objects.ts';

const test = suite('results of DeleteObjects');

const refusal = { object: { key: 'a&b', versionId: 'v1' }, error: s3Error('AccessDenied', 'no') };
const shown =
  '<Error><Key>a&amp;b</Key><VersionId>v1</VersionId><Code>AccessDenied</Code><Message>no</Message></Error>';

const scanned = (xml: string) => scanAnswer(Buffer.from(xml), results.deleteResult);
const deletedKeys = (asked: string[], xml: string) => results.deletedKeys(asked, scanned(xml));
const withRefusals = (xml: string, refusals: Parameters<typeof results.withRefusals>[1]) =>
  Buffer.concat([...results.withRefusals(Buffer.from(xml), refusals).blocks]).toString();
const emptyResult = results.emptyResult.toString();

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

test('a store says no more than was asked of it', () => {
  const said = (one: string, times: number) => `<DeleteResult>${one.repeat(times)}</DeleteResult>`;
  assert.is(scanned(said('<Deleted><Key>a</Key></Deleted>', 1_000)).entries.length, 1_000);
  for (const one of ['<Deleted/>', '<Error><Key>a</Key></Error>', '<Error/>'])
    assert.throws(
      () => scanned(said(one, 1_001)),
      (error: unknown) => error instanceof S3Error && error.code === 'InternalError',
    );
});

test('what a quiet caller does not want to see is left out', () => {
  const xml =
    '<DeleteResult><Deleted><Key>a</Key></Deleted>\n<Deleted ><Key/></Deleted><Error><Key>b</Key></Error></DeleteResult>';
  const hidden = scanned(xml).entries.filter(({ path }) => path === 'Deleted');
  const { blocks, length } = results.withRefusals(Buffer.from(xml), [], hidden);
  const written = Buffer.concat([...blocks]);
  assert.is(written.toString(), '<DeleteResult>\n<Error><Key>b</Key></Error></DeleteResult>');
  assert.is(written.length, length);
});

test.run();
