import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PartEntry } from '../../../src/objects/format/body-format.ts';
import { partRuns, spoolFrom } from '../../../src/objects/read/object-parts.ts';
import { chooseSlice, readRequest } from '../../../src/objects/read/read-request.ts';
import {
  apparentSize,
  type ObjectLayout,
  type StoredObject,
} from '../../../src/objects/read/stored-object.ts';
import { parseQueryEntries, queryOf } from '../../../src/objects/s3/request.ts';

const test = suite('slices');

const entry = (n: number, size: number): PartEntry => ({ n, dek: `vault:v1:${n}`, nonce: '', size });
const layoutOf = (...sizes: number[]): ObjectLayout => ({
  size: sizes.reduce((sum, size) => sum + size, 0),
  list: { manifest: '', seal: '', mac: '', parts: sizes.map((size, index) => entry(2 * index + 1, size)) },
});
const object = {
  etag: '"0123456789abcdef0123456789abcdef"',
  headers: { 'last-modified': 'Sat, 21 Nov 2026 11:00:00 GMT' },
} as unknown as StoredObject;

const request = (headers: Record<string, string>, query = '') =>
  readRequest(
    {
      id: '1',
      method: 'GET',
      bucket: 'b',
      key: 'k',
      rawPath: '/b/k',
      rawQuery: query,
      query: queryOf(parseQueryEntries(query)),
      headers,
    },
    { envelopeHeaders: 'shown' },
  );

test('parts are counted in their order', () => {
  const layout = layoutOf(10, 20, 0, 5);
  const of = (number: number) => chooseSlice(object, layout, request({}, `partNumber=${number}`));
  const headers = { 'x-amz-mp-parts-count': '4' };
  assert.equal(of(2), { range: { start: 10, end: 29 }, headers });
  assert.equal(of(4), { range: { start: 30, end: 34 }, headers });
  assert.is(of(3), 'unsatisfied');
  assert.throws(() => of(5), /not satisfiable/);
});

test('If-Range knows the object by its outward ETag, or by its exact date', () => {
  const layout = layoutOf(100);
  const of = (ifRange: string) =>
    chooseSlice(object, layout, request({ range: 'bytes=0-1', 'if-range': ifRange }));
  const slice = { range: { start: 0, end: 1 }, headers: {} };
  assert.equal(of('"0123456789abcdef0123456789abcdef-svc"'), slice);
  assert.equal(of('Sat, 21 Nov 2026 11:00:00 GMT'), slice);
  for (const other of [
    'W/"0123456789abcdef0123456789abcdef-svc"',
    '"x"',
    'Sat, 21 Nov 2026 11:00:01 GMT',
    '',
  ])
    assert.is(of(other), 'whole', other);
});

test('runs cover the range with neighbours, in order, large slices apart', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3 * spoolFrom }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (list, from, span) => {
      const { size, list: parts } = layoutOf(...list);
      if (size === 0) return;
      const start = from % size;
      const end = Math.min(size - 1, start + (span % size));
      const entries = (parts?.parts ?? []) as readonly PartEntry[];
      const runs = [...partRuns(entries, { start, end })].map((run) => ({ ...run, parts: [...run.parts] }));
      const taken = runs.flatMap((run) => run.parts.map(({ slice }) => slice.take));
      const [together] = partRuns(entries, { start, end }, true);
      assert.equal(
        [...(together?.parts ?? [])],
        runs.flatMap((run) => run.parts),
      );
      assert.equal(together?.stored, { start: runs[0]?.stored.start, end: runs.at(-1)?.stored.end });
      assert.is(
        taken.reduce((sum, take) => sum + take, 0),
        end - start + 1,
      );
      for (const run of runs) {
        const bytes = run.parts.reduce((sum, { entry: { size: part } }) => sum + part + 28, 0);
        if (!run.shared)
          assert.is(
            run.parts.some(({ slice, entry: part }) => slice.take < part.size && part.size > spoolFrom),
            false,
          );
        else assert.is(run.parts.length, 1);
        assert.is(run.stored.end - run.stored.start + 1, bytes);
      }
    }),
  );
});

test('sizes of many parts are told from the ETag, of few from the list', () => {
  const pointer = (etag: string) =>
    apparentSize({
      etag,
      storedSize: 1_000_000,
      envelope: {
        keys: { form: 'pointer', manifest: '', seal: '' },
        keyName: '',
        keyVersion: 1,
        binding: 'key',
      },
    } as StoredObject);
  assert.is(pointer('"0123456789abcdef0123456789abcdef-100"'), 1_000_000 - 2800);
  assert.is(pointer('"0123456789abcdef0123456789abcdef-3"'), undefined);
  assert.is(pointer('"0123456789abcdef0123456789abcdef"'), undefined);
});

test('range and part number exclude each other', () => {
  assert.throws(() => request({ range: 'bytes=0-1' }, 'partNumber=1'), /Cannot specify both/);
  for (const wrong of ['0', '10001', 'x', '', '-1', '1.5'])
    assert.throws(() => request({}, `partNumber=${wrong}`), /Part number must be/, wrong);
});

test('what the store needs for each request is told from the caller', () => {
  const { address, query } = request(
    {
      'x-amz-request-payer': 'requester',
      'x-amz-server-side-encryption-customer-key': 'k',
      'x-amz-acl': 'x',
    },
    'versionId=v&partNumber=2&response-expires=z',
  );
  assert.equal(address.access, {
    'x-amz-request-payer': 'requester',
    'x-amz-server-side-encryption-customer-key': 'k',
  });
  assert.is(address.versionId, 'v');
  assert.equal(query, [
    ['versionId', 'v'],
    ['response-expires', 'z'],
  ]);
});

test.run();
