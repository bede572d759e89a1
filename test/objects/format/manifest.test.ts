import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PartEntry } from '../../../src/objects/format/body-format.ts';
import {
  type PartList,
  readPartList,
  sealMac,
  serializePartList,
  verifySeal,
} from '../../../src/objects/format/manifest.ts';
import { faultOf } from './fault.ts';

const test = suite('part lists');

const vector = JSON.parse(
  readFileSync(new URL('../../vectors/envelope/part-list.json', import.meta.url), 'utf8'),
) as { sealKey: string; list: PartList & { v: 1 } };
const sealKey = Buffer.from(vector.sealKey, 'hex');

test('the vector reads, verifies and is written as it was', () => {
  const list = readPartList(vector.list);
  verifySeal(sealKey, list);
  assert.equal(JSON.parse(serializePartList(list)), vector.list);
});

const id = 'AAECAwQFBgcICQoLDA0ODw';
const part = (n: number): PartEntry => ({
  n,
  dek: `vault:v1:${Buffer.from(`dek ${n}`).toString('base64')}`,
  nonce: Buffer.alloc(12, n).toString('base64'),
  size: n * 1000,
});
const sealed = (parts: PartEntry[]): PartList => ({
  manifest: id,
  parts,
  seal: 'vault:v1:AAAA',
  mac: sealMac(sealKey, id, parts),
});
const list = sealed([1, 2, 3, 4].map(part));

test('parts that were dropped, repeated, reordered or edited are found', () => {
  const [a, b, c, d] = list.parts as [PartEntry, PartEntry, PartEntry, PartEntry];
  const forged: PartEntry[][] = [
    [a, b, c],
    [b, c, d],
    [],
    [a, b, c, d, d],
    [a, c, b, d],
    [a, b, c, { ...d, size: d.size + 1 }],
    [a, b, c, { ...d, n: 5 }],
    [a, b, c, { ...d, nonce: c.nonce }],
    [a, b, { ...c, dek: d.dek }, { ...d, dek: c.dek }],
  ];
  for (const parts of forged)
    assert.is(
      faultOf(() => verifySeal(sealKey, { ...list, parts })),
      'manifest-forged',
    );
  for (const other of [
    { ...list, manifest: 'BAECAwQFBgcICQoLDA0ODw' },
    { ...list, mac: '' },
    { ...list, mac: Buffer.alloc(32).toString('base64') },
  ])
    assert.is(
      faultOf(() => verifySeal(sealKey, other)),
      'manifest-forged',
    );
  assert.is(
    faultOf(() => verifySeal(Buffer.alloc(32), list)),
    'manifest-forged',
  );
  verifySeal(sealKey, list);
});

test('what is not exactly of the form is malformed', () => {
  const json = () => JSON.parse(serializePartList(list));
  const edits: ((value: ReturnType<typeof json>) => unknown)[] = [
    () => null,
    () => [],
    (value) => ({ ...value, v: 2 }),
    (value) => ({ ...value, manifest: 'x' }),
    (value) => ({ ...value, seal: 'AAAA' }),
    (value) => ({ ...value, mac: 5 }),
    (value) => ({ ...value, parts: [] }),
    (value) => ({ ...value, parts: {} }),
    (value) => ({ ...value, parts: [...value.parts].reverse() }),
    (value) => ({ ...value, parts: [value.parts[0], value.parts[0]] }),
    (value) => ({ ...value, parts: [null] }),
    ...[
      { n: 0 },
      { n: 1.5 },
      { n: '1' },
      { n: 10_001 },
      { dek: 'x' },
      { dek: undefined },
      { nonce: 'AAAA' },
      { nonce: 7 },
      { size: -1 },
      { size: 0.5 },
      { size: 2 ** 53 },
    ].map((fields) => (value: ReturnType<typeof json>) => ({
      ...value,
      parts: [{ ...value.parts[0], ...fields }],
    })),
  ];
  for (const edit of edits)
    assert.is(
      faultOf(() => readPartList(edit(json()))),
      'malformed-metadata',
      edit.toString(),
    );
});

test('10,000 parts are read, and not one more', () => {
  const parts = Array.from({ length: 10_000 }, (_, index) => part(index + 1));
  const read = (many: PartEntry[]) => readPartList(JSON.parse(serializePartList(sealed(many))));
  assert.is(read(parts).parts.length, 10_000);
  assert.is(
    faultOf(() => read([...parts, part(10_001)])),
    'malformed-metadata',
  );
});

test('arbitrary JSON ends in a list or in an envelope error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      faultOf(() => readPartList(value));
      faultOf(() => readPartList({ v: 1, manifest: id, seal: list.seal, mac: '', parts: [value] }));
    }),
  );
});

test.run();
