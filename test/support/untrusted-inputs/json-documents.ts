import fc from 'fast-check';
import { readImageConfig, readManifest } from '../../../src/cluster/images/manifest.ts';
import { ImageError } from '../../../src/cluster/images/reference.ts';
import { readDockerConfigJson } from '../../../src/cluster/images/registry-credentials.ts';
import { parseJson } from '../../../src/cluster/kube/client.ts';
import { outlineOfObject, readJson } from '../../../src/cluster/kube/read-object.ts';
import { readTransitAnswer, readWrapped } from '../../../src/keyserver/transit-messages.ts';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import { parseManifest } from '../../../src/objects/format/records.ts';
import { parseRewrapRecord } from '../../../src/objects/format/rewrap-record.ts';
import { readUploadRecord } from '../../../src/objects/multipart/upload-record.ts';
import { readReview } from '../../../src/plugins/operator/webhook/review.ts';
import { bytesPerPart, parseBounded, sizeOfJson } from '../../../src/runtime/bounds/bounded-json.ts';
import { JsonError } from '../../../src/runtime/bounds/json-document.ts';
import { JsonView } from '../../../src/runtime/bounds/json-view.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import type { UntrustedInput } from './types.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

interface JsonForm {
  /** A valid document around a value, which stands where the most is made of it. */
  readonly around: (value: string) => string;
  readonly bytes: number;
}

const numbered = (size: number, each: number, item: (index: number) => string): string =>
  Array.from({ length: Math.floor(size / each) }, (_, index) => item(index)).join(',');

/** Values of about `size` bytes of which a parser makes the most. */
const fillings: Readonly<Record<string, (size: number) => string>> = {
  'empty objects': (size) => `[${'{},'.repeat(size / 3)}{}]`,
  'empty lists': (size) => `[${'[],'.repeat(size / 3)}[]]`,
  'short lists': (size) => `[${'[1],'.repeat(size / 4)}[]]`,
  'small objects': (size) => `[${numbered(size, 12, (index) => `{"a${index}":1}`)}]`,
  'members of one object': (size) => `{${numbered(size, 12, (index) => `"a${index}":""`)}}`,
  'members with numbers for names': (size) => `{${numbered(size, 12, (index) => `"${index * 7_919}":1`)}}`,
  'empty texts': (size) => `[${'"",'.repeat(size / 3)}""]`,
  'short texts': (size) => `[${numbered(size, 9, (index) => `"${index}"`)}]`,
  fractions: (size) => `[${'1.5,'.repeat(size / 4)}1]`,
  'small trees': (size) => `[${'[[[[]]]],'.repeat(size / 9)}1]`,
  'many levels': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'levels without an end': (size) => '{"a":'.repeat(size / 5),
  'one text': (size) => `"${'a'.repeat(size)}"`,
  'one text of escapes': (size) => `"${'\\u0001'.repeat(size / 6)}"`,
  'one text beyond ASCII': (size) => `"${'€'.repeat(size / 3)}"`,
};

function worstOf({ around, bytes }: JsonForm): UntrustedInput['worst'] {
  const size = bytes - around('').length;
  const makes = Object.entries(fillings).map(
    ([name, fill]) => [name, () => Buffer.from(around(fill(size))).subarray(0, bytes)] as const,
  );
  return Object.fromEntries(makes);
}

/** Whole documents with any value in them, and what is left of one that was cut or changed. */
function documentsOf({ around }: JsonForm): UntrustedInput['arbitrary'] {
  const some = fc.oneof(
    fc.json(),
    fc.tuple(fc.constantFrom(...Object.values(fillings)), fc.nat(2_000)).map(([fill, size]) => fill(size)),
  );
  const whole = some.map((value) => Buffer.from(around(value)));
  const broken = fc.tuple(whole, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
    const place = at % Math.max(1, bytes.length);
    return Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place + (at % 3))]);
  });
  return fc.oneof(whole, broken);
}

type Reader = Pick<UntrustedInput, 'name' | 'parser' | 'from' | 'parse' | 'refuses'> & {
  readonly form: JsonForm;
  /** Values and names of which something is made, at most. */
  readonly parts: number;
};

const json = ({ form, parts, ...reader }: Reader): UntrustedInput => ({
  ...{ ...reader, arbitrary: documentsOf(form), worst: worstOf(form) },
  constant: 256 * KiB + 2 * bytesPerPart * parts,
});

const isA =
  (...kinds: readonly (abstract new (...args: never[]) => Error)[]) =>
  (error: unknown): boolean =>
    kinds.some((kind) => error instanceof kind);

const itself = (value: string): string => value;
const review = (pod: string): string =>
  `{"kind":"AdmissionReview","request":{"uid":"u","kind":{"kind":"Pod"},"operation":"CREATE","namespace":"team","object":${pod}}}`;
const object = (spec: string): string =>
  `{"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":${spec}}`;
const ofStore = { from: 'store', refuses: isA(EnvelopeError) } as const;
const ofRegistry = { from: 'registry', parts: 20_000, refuses: isA(ImageError) } as const;

/** JSON that others write, as those read it who get it. */
export const inputs: readonly UntrustedInput[] = [
  ...Object.entries({
    'a pod': (value: string) => review(`{"metadata":{},"spec":{"containers":[{"args":${value}}]}}`),
    'labels of a pod': (value: string) => review(`{"metadata":{"labels":${value}},"spec":{"containers":[]}}`),
    'annotations of a pod': (value: string) =>
      review(`{"metadata":{"annotations":${value}},"spec":{"containers":[]}}`),
  }).map(([what, around]) =>
    json({
      ...{ name: `AdmissionReview of ${what}`, parser: 'plugins/operator/webhook/review.ts' },
      ...{ from: 'API server', form: { around, bytes: 4 * MiB }, parts: 200_000, refuses: isA(SvcError) },
      parse: (bytes) => readReview(bytes, sizeOfJson(bytes)),
    }),
  ),
  ...Object.entries({
    'object of a list': (bytes: Buffer) => readJson('GET /', bytes, outlineOfObject, 'outlined'),
    'object of an API server': (bytes: Buffer) => parseJson('GET /', bytes),
  }).map(([name, parse]) =>
    json({
      ...{ name, parser: 'cluster/kube/read-object.ts', from: 'API server', parse },
      ...{ form: { around: object, bytes: 3 * MiB }, parts: 200_000, refuses: isA(SvcError) },
    }),
  ),
  json({
    ...{ name: 'pull secret', parser: 'cluster/images/registry-credentials.ts', from: 'API server' },
    form: { around: (value) => `{"auths":${value}}`, bytes: 384 * KiB },
    ...{ parts: 10_000, refuses: isA(ImageError), parse: (bytes) => readDockerConfigJson(bytes.toString()) },
  }),
  json({
    ...{ name: 'image index', parser: 'cluster/images/manifest.ts', ...ofRegistry },
    form: { around: (value) => `{"schemaVersion":2,"manifests":${value}}`, bytes: MiB },
    parse: (bytes) => readManifest(bytes, 'application/vnd.oci.image.index.v1+json'),
  }),
  json({
    ...{ name: 'image configuration', parser: 'cluster/images/manifest.ts', ...ofRegistry },
    form: { around: (value) => `{"os":"linux","config":{"Cmd":${value}}}`, bytes: MiB },
    parse: (bytes) => readImageConfig(bytes),
  }),
  json({
    ...{ name: 'manifest of an object', parser: 'objects/format/records.ts', ...ofStore, parts: 121_000 },
    form: { around: (value) => `{"v":1,"bucket":"b","key":"k","list":${value}}`, bytes: 8 * MiB },
    parse: parseManifest,
  }),
  json({
    ...{
      name: 'record of rewrapped keys',
      parser: 'objects/format/rewrap-record.ts',
      ...ofStore,
      parts: 20_102,
    },
    form: {
      around: (value) => `{"v":1,"bucket":"b","key":"k","keyName":"n","keys":${value}}`,
      bytes: 8 * MiB,
    },
    parse: parseRewrapRecord,
  }),
  json({
    ...{ name: 'record of an upload', parser: 'objects/multipart/upload-record.ts', ...ofStore },
    ...{ form: { around: (value) => `{"v":4,"repeat":${value}}`, bytes: MiB }, parts: 10_000 },
    parse: (bytes) => readUploadRecord(bytes.toString()),
  }),
  json({
    ...{ name: 'results of the key server', parser: 'keyserver/transit-messages.ts', from: 'key server' },
    form: { around: (value) => `{"data":{"batch_results":${value}}}`, bytes: 8 * MiB },
    ...{ parts: 200_000, refuses: isA(JsonError) },
    parse: (bytes) => readTransitAnswer(bytes, 'ciphertext', 1_000, readWrapped, () => undefined),
  }),
  json({
    ...{ name: 'fields of a secret', parser: 'runtime/bounds/json-view.ts', from: 'key server' },
    form: { around: (value) => `{"data":{"data":${value}}}`, bytes: 8 * MiB },
    ...{ parts: 200_000, refuses: isA(JsonError) },
    parse(bytes) {
      const view = new JsonView(bytes);
      const found = view.at('data', 'data');
      return found?.kind === 'object' && view.members(found);
    },
  }),
  json({
    ...{ name: 'any other answer of the key server', parser: 'keyserver/json-http-client.ts' },
    ...{ from: 'key server', form: { around: itself, bytes: 8 * MiB }, parts: 200_000 },
    refuses: isA(JsonError, SyntaxError),
    parse: (bytes) => parseBounded(bytes, { maxParts: 200_000 }),
  }),
];
