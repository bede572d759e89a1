import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KubeError } from '../../../src/cluster/kube/client.ts';
import { ArrayCutter } from '../../../src/cluster/kube/list.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { chunksOf } from './support/chunks.ts';

const test = suite('elements that are cut out of an array while it is read');
const roomy = { mostOfElement: 1_000_000, mostOfRest: 1_000_000 };

function cut(bytes: Buffer | string, cuts: readonly number[] = [], limits = roomy) {
  const cutter = new ArrayCutter('items', limits);
  const elements: string[] = [];
  for (const chunk of chunksOf(Buffer.from(bytes), cuts))
    elements.push(...Array.from(cutter.push(chunk), String));
  return { elements, rest: cutter.rest(), count: cutter.count };
}

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const cuts = fc.array(fc.nat(2_000));
const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('items', '"items"', '\\', '],[{', '\\"'),
);
const value = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(text, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).json;
const other = fc.tuple(
  text.filter((name) => name !== 'items'),
  value,
);

interface Document {
  readonly bytes: Buffer;
  readonly items: readonly unknown[];
}

/** A list with its items anywhere between its other members, spaces everywhere. */
const document: fc.Arbitrary<Document> = fc
  .tuple(fc.array(other, { maxLength: 3 }), fc.array(value), fc.array(other, { maxLength: 3 }), space)
  .map(([before, items, after, gap]) => {
    const member = ([name, each]: readonly [string, unknown]) =>
      `${JSON.stringify(name)}${gap}:${gap}${JSON.stringify(each, undefined, gap)}`;
    const list = `[${gap}${items.map((item) => JSON.stringify(item, undefined, gap)).join(`${gap},${gap}`)}${gap}]`;
    const members = [...before.map(member), `"items"${gap}:${gap}${list}`, ...after.map(member)];
    return { bytes: Buffer.from(`${gap}{${members.join(`${gap},${gap}`)}}${gap}`), items };
  });

/** As it is in memory after JSON: a lone half of a character has become another one. */
const parse = (bytes: Buffer | string) => JSON.parse(String(bytes)) as Record<string, unknown>;

test('are those of the array, wherever the bytes were cut, and the rest is the rest', () => {
  fc.assert(
    fc.property(document, cuts, ({ bytes }, at) => {
      const { elements, rest, count } = cut(bytes, at);
      const { items, ...others } = parse(bytes) as { items: unknown[] };
      assert.equal(
        elements.map((each) => JSON.parse(each)),
        items,
      );
      assert.is(count, items.length);
      assert.equal(parse(rest), { ...others, items: items.map(() => 0) });
    }),
  );
});

test('a document that was cut off leaves a rest that is no JSON', () => {
  fc.assert(
    fc.property(document, fc.nat(), cuts, ({ bytes }, length, at) => {
      const whole = bytes.toString().trimEnd();
      const part = Buffer.from(whole).subarray(0, length % Buffer.byteLength(whole));
      assert.throws(() => parse(cut(part, at).rest));
    }),
  );
});

for (const [what, json] of Object.entries({
  'no items': '{"metadata":{}}',
  'items that are null': '{"items":null,"a":[1]}',
  'items that are an object': '{"items":{"a":[1]}}',
  'items below another member': '{"metadata":{"items":[1,2]},"list":[{"items":[3]}]}',
  'a text that ends like the name': '{"\\"items":[1],"an\\\\items":[2],"items ":[3]}',
  'the name as a text': '{"a":"items","b":[1]}',
  'a list of lists': '[["items",[1]]]',
  'an empty object': '{}',
  'a text': '"items"',
})) {
  test(`${what}: nothing is cut out`, () => {
    fc.assert(
      fc.property(cuts, (at) => {
        assert.equal(cut(json, at), { elements: [], rest: json, count: 0 });
      }),
    );
  });
}

test('a name with escapes is not known, which the count shows', () => {
  const { rest, count } = cut('{"\\u0069tems":[{"a":1}]}');
  assert.equal([parse(rest), count], [{ items: [{ a: 1 }] }, 0]);
});

for (const json of [
  ...['{"items":[1,]}', '{"items":[,1]}', '{"items":[,]}', '{"items":[1],}', '{"items":[1]]}'],
  ...['{"items":[1]}{"items":[2]}', '{"items"[1]}', '{"items":\u00a0[1]}', '{"items":[\u00a0]}'],
]) {
  test(`${json} is no JSON afterwards either`, () => {
    const { elements, rest } = cut(json);
    assert.throws(() => [...elements.map((each) => JSON.parse(each)), JSON.parse(rest)]);
  });
}

for (const [what, json] of [
  ['an element', `{"items":[1,"${'x'.repeat(20)}"]}`],
  ['an element without an end', `{"items":["${'x'.repeat(50)}`],
  ['the rest', `{"a":"${'x'.repeat(50)}","items":[]}`],
  ['the rest behind the array', `{"items":[],"a":"${'x'.repeat(50)}`],
] as const) {
  test(`${what} has a bound`, () => {
    for (const at of [[], [15, 25], Array.from({ length: 99 }, (_, place) => place)]) {
      const limits = { mostOfElement: 21, mostOfRest: 40 };
      assert.throws(
        () => cut(json, at, limits),
        (error: unknown) => error instanceof KubeError && error.code === 'KUBE_PROTOCOL',
      );
    }
  });
}

test('an element that comes in single bytes takes no object for each', () => {
  const cutter = new ArrayCutter('items', roomy);
  const push = (text: string) => [...cutter.push(Buffer.from(text))];
  push('{"items":["');
  collectGarbage();
  const before = heldBytes();
  for (let byte = 0; byte < 500_000; byte++) push('x');
  collectGarbage();
  const held = heldBytes() - before;
  assert.ok(held < 10_000_000, `${held} bytes`);
  assert.is(push('"]')[0]?.length, 500_002);
});

test.run();
