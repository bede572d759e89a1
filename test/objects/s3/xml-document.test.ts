import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { type DocumentShape, type Fields, scanDocument } from '../../../src/objects/s3/xml-document.ts';
import { refusal } from './refusals.ts';
import { childText, parseTree, type XmlElement } from './xml-oracle.ts';

const test = suite('documents without a tree');

const shape = {
  root: 'List',
  entries: ['Part', 'Set/Tag'],
  fields: ['PartNumber', 'ETag', 'Owner/ID', 'More'],
};

/** Entries and top as lists of texts. */
type Flat = readonly (readonly (string | undefined)[])[];

const flat = (fields: Fields) => shape.fields.map((field) => fields.get(field));

/** Undefined for what is refused. */
function scanned(xml: string | Buffer): Flat | undefined {
  try {
    const { top, entries } = scanDocument(Buffer.from(xml), shape);
    return [flat(top), ...entries.map((entry) => [entry.path, ...flat(entry)])];
  } catch (error) {
    assert.instance(error, S3Error);
    return undefined;
  }
}

/** The same by way of another parser. */
function parsed(xml: string): Flat | undefined {
  try {
    const root = parseTree(xml, shape.root);
    const sets = root.children.get('Set') ?? [];
    const tags = sets.flatMap((set) => set.children.get('Tag') ?? []);
    const entries = (root.children.get('Part') ?? []).map((part) => entryOf('Part', part));
    return [flatTree(root), ...entries, ...tags.map((tag) => entryOf('Set/Tag', tag))];
  } catch {
    return undefined;
  }
}

function entryOf(path: string, element: XmlElement): (string | undefined)[] {
  const texts = flatTree(element);
  if (texts.every((text) => text === undefined)) throw new Error(`an empty ${path}`);
  return [path, ...texts];
}

function flatTree(element: XmlElement): (string | undefined)[] {
  return shape.fields.map((field) => {
    const [first = '', second] = field.split('/');
    if (second === undefined) return leafText(element, first);
    const owners = element.children.get(first) ?? [];
    const ids = owners.map((owner) => leafText(owner, second)).filter((id) => id !== undefined);
    if (ids.length > 1) throw new Error('twice');
    return ids[0];
  });
}

function leafText(element: XmlElement, name: string): string | undefined {
  const text = childText(element, name);
  if (element.children.get(name)?.[0]?.children.size) throw new Error(`${name} has elements`);
  return text;
}

const root = (inner: string) =>
  `<?xml version="1.0"?>\n<List xmlns="http://s3.amazonaws.com/doc/">${inner}</List>`;
const part = (inner: string) => `\n  <Part>${inner}</Part>`;

test('texts are read as written, other elements are passed over', () => {
  const text = root(
    part('<ETag>&quot;a&#38;b&quot;</ETag><PartNumber>1</PartNumber><ChecksumCRC32>x==</ChecksumCRC32>') +
      part('<PartNumber> 2 </PartNumber><ETag/>') +
      '<More>yes</More><Owner><ID>me</ID><Other/></Owner><Set><More>no</More><Tag><More>x</More></Tag></Set>' +
      '<Part><Owner><More>no</More><ID>you</ID></Owner><Sub><ETag>no</ETag></Sub></Part><C><More>no</More></C>',
  );
  assert.equal(scanned(text), [
    [undefined, undefined, 'me', 'yes'],
    ['Part', '1', '"a&b"', undefined, undefined],
    ['Part', ' 2 ', '', undefined, undefined],
    ['Set/Tag', undefined, undefined, undefined, 'x'],
    ['Part', undefined, undefined, 'you', undefined],
  ]);
});

test('prefixes, comments, instructions, attributes and a byte order mark change nothing', () => {
  const plain = scanned(root(part('<ETag>a</ETag>')));
  assert.ok(plain);
  for (const xml of [
    root(part('<s3:ETag>a</s3:ETag>')),
    root(`<!-- x -->${part('<ETag>a<!-- b --></ETag>')}`),
    root(`<?x?>${part('<ETag><?x <?>a</ETag>')}`),
    `\uFEFF${root(part('<ETag a=">" b=\'"\'>a</ETag>'))}\n<!-- -->`,
    '<x:List xmlns:x="y"><x:Part ><x:ETag\n>a</x:ETag ></x:Part></x:List>',
  ])
    assert.equal(scanned(xml), plain, xml);
});

for (const [what, xml] of Object.entries({
  'another root': '<Delete><Part><PartNumber>1</PartNumber></Part></Delete>',
  'a field twice': root(part('<ETag>a</ETag><ETag>b</ETag>')),
  'an empty field twice': root(part('<ETag/><ETag/>')),
  'an entry of nothing that is wanted': root('<Part><Other/></Part>'),
  'a field that has elements': root(part('<ETag>a<b/></ETag>')),
  'a nested field': root(part('<ETag><ETag>a</ETag></ETag>')),
  'an unknown entity': root(part('<ETag>&x;</ETag>')),
  CDATA: root(part('<ETag><![CDATA[a]]></ETag>')),
  'a document type': `<!DOCTYPE x>${root('')}`,
  'a part outside the list': `${root('')}<Part/>`,
  'crossed tags': root('<Part><ETag></Part></ETag>'),
})) {
  test(`${what} is refused`, () => assert.is(scanned(xml), undefined));
}

test('entries and elements are counted while the document is read', () => {
  const few: DocumentShape = { root: 'List', entries: ['A'], fields: ['B'], mostEntries: 3 };
  let made = 0;
  const make = (one: string, times: number) => () =>
    scanDocument(Buffer.from(`<List>${one.repeat(times)}`), few, () => made++);
  assert.is(refusal(make('<A><B/></A>', 100_000)), 'MalformedXML');
  assert.is(made, 3);
  assert.is(refusal(make('<C/>', 100_000)), 'MalformedXML');
  assert.is(scanDocument(Buffer.from(`<List>${'<A><B/></A>'.repeat(3)}</List>`), few).entries.length, 3);
});

const blank = fc.constantFrom('', '', ' ', '\n\t');
const aside = fc.constantFrom('', '', '', '<!-- x > -->', '<?x <a> ?>', '<!---->');
const texts = fc
  .array(fc.constantFrom('a', ' ', '&amp;', '&#x41;', 'é', '\r\n', '>', '"', '<!-- b -->', '&lt;'), {
    maxLength: 5,
  })
  .map((pieces) => pieces.join(''));
const attributes = fc.constantFrom('', '', ' a="b"', " a='>' b:c = \"'\"", '\nxmlns:s="x"');
const names = fc.constantFrom(
  ...['Part', 'PartNumber', 'ETag', 'Owner', 'ID', 'More', 'Set', 'Tag', 'List', 'x', 'é'],
);

const prefixes = fc.constantFrom('', '', '', 's:');
const tag = fc.tuple(prefixes, attributes, blank);
const enclosed = (name: string, [prefix, given, end]: [string, string, string], inner: string): string =>
  inner === '' && given === ''
    ? `<${prefix}${name}${end}/>`
    : `<${prefix}${name}${given}${end}>${inner}</${prefix}${name}${end}>`;

const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .tuple(
      names,
      tag,
      fc.oneof(
        { depthSize: 'small' },
        texts,
        fc.array(fc.tuple(blank, aside, tie('element')), { maxLength: 4 }),
      ),
    )
    .map(([name, given, inner]) =>
      enclosed(name, given, typeof inner === 'string' ? inner : inner.flat().join('')),
    ),
}));
/** One as it should be, so that many documents are taken. */
const entry = fc
  .tuple(
    tag,
    fc.uniqueArray(fc.constantFrom('PartNumber', 'ETag', 'More', 'x'), { minLength: 1 }),
    fc.array(texts),
    aside,
  )
  .map(([given, fields, inner, between]) =>
    enclosed('Part', given, fields.map((name, at) => enclosed(name, given, inner[at] ?? '')).join(between)),
  );
const documents = fc
  .tuple(
    fc.constantFrom('', '\uFEFF', '<?xml version="1.0"?>'),
    aside,
    tag,
    fc.array(fc.tuple(aside, fc.oneof({ weight: 4, arbitrary: entry }, { weight: 1, arbitrary: element })), {
      maxLength: 6,
    }),
  )
  .map(
    ([start, before, given, elements]) =>
      `${start}${before}${enclosed('List', given, elements.flat().join(''))}\n`,
  );

test('the scan and another parser read documents alike', () => {
  let both = 0;
  fc.assert(
    fc.property(documents, (xml) => {
      const expected = parsed(xml);
      const order = (list: Flat | undefined) => list?.map(String).toSorted();
      assert.equal(order(scanned(xml)), order(expected), xml);
      if (expected !== undefined && expected.length > 1) both += 1;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(both > 100, `${both} had entries`);
});

test('a document with a byte changed is read as the parser reads it, as it was, or not at all', () => {
  const xml = root(part('<PartNumber>1</PartNumber><ETag>"a"</ETag>') + part('<PartNumber>2</PartNumber>'));
  const unchanged = scanned(xml);
  for (let at = 0; at < xml.length; at++) {
    for (const byte of '<>/&;"\'!?- :\u0000aP') {
      const changed = xml.slice(0, at) + byte + xml.slice(at + 1);
      const read = scanned(changed);
      // What the parser refuses between the elements changes no part.
      if (read !== undefined) assert.equal(read, parsed(changed) ?? unchanged, changed);
    }
  }
});

test.run();
