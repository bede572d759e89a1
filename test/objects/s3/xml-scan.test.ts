import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { type ScanBounds, scanXml } from '../../../src/objects/s3/xml-scan.ts';
import { decodeText } from '../../../src/objects/s3/xml-text.ts';
import { refusal } from './refusals.ts';
import { parseTree, type XmlElement } from './xml-oracle.ts';

const test = suite('documents in bytes');

/** What a walk tells, with the texts that its offsets stand for; undefined for what is refused. */
function told(text: string, bounds: Partial<ScanBounds> = {}): readonly string[] | undefined {
  const seen: string[] = [];
  const bytes = Buffer.from(text);
  const visitor = {
    open: (name: string | undefined, depth: number, start: number, content: number) =>
      void seen.push(`<${name} ${depth} ${bytes.toString('utf8', start, content)}`),
    close: (name: string | undefined, depth: number, content: number, end: number) =>
      void seen.push(`>${name} ${depth} ${bytes.toString('utf8', content, end)}`),
  };
  try {
    scanXml(bytes, visitor, { names: ['a', 'b', 'Check*'], most: 1_000, ...bounds });
    return seen;
  } catch (error) {
    assert.instance(error, S3Error);
    assert.is((error as S3Error).code, 'MalformedXML');
    return undefined;
  }
}

test('tells elements, the wanted names without prefixes, and where they stand', () => {
  assert.equal(told('<?xml version="1.0"?>\n<a x="1>">t<s:b/><c/><Checksum></Checksum></a >\n'), [
    '<a 1 <a x="1>">',
    '<b 2 <s:b/>',
    '>b 2 ',
    '<undefined 2 <c/>',
    '>undefined 2 ',
    '<Check* 2 <Checksum>',
    '>Check* 2 </Checksum>',
    '>a 1 </a >',
  ]);
});

const passed = [
  ...['\uFEFF<a/>', ' \t\r\n<a/> \n', '<!-- <b> --><a/><!-- -- -->', '<a><?x <b> ?></a>', "<a b='\"'/>"],
  ...['<a\nb = "1"\tc=\'2\' />', '<größe:a xmlns:größe="x"></größe:a>', '<a><!----></a>', '<a>]]></a>'],
];
for (const text of passed) test(`reads ${JSON.stringify(text)}`, () => assert.ok(told(text)));

const refused = [
  ...['', ' ', 'x', '<a', '<a>', '</a>', '<a></a></a>', '<a/><b/>', '<a/>x', 'x<a/>', '<a></b>', '<s:a></a>'],
  ...[
    '<!DOCTYPE a><a/>',
    '<a><![CDATA[x]]></a>',
    '<a><!-></a>',
    '<a><!--></a>',
    '<a><!-- </a>',
    '<a><?x </a>',
  ],
  ...[
    '<a b/>',
    '<a b=c/>',
    '<a b="1"c="2"/>',
    '<a b="<"/>',
    '<a b="1/>',
    '<a / >',
    '< a/>',
    '<a></ a>',
    '<1/>',
  ],
  ...['<:a/>', '<-a/>', '\u00a0<a/>', '<a>\u0000</b>', '<a/ >', '<>', '</>', '<a></>'],
];
for (const text of refused) test(`refuses ${JSON.stringify(text)}`, () => assert.is(told(text), undefined));

test('a document to be handed on has nothing that others may read otherwise', () => {
  for (const text of ['<a><!-- --></a>', '<a><?x?></a>', '<s:a></s:a>', '<a><s:b/></a>', '<?x?><a/>']) {
    assert.ok(told(text));
    assert.is(told(text, { plain: true }), undefined, text);
  }
  for (const text of ['<?xml version="1.0"?><a/>', '\uFEFF<?xml version="1.0"?> <a s:b="c"/>'])
    assert.ok(told(text, { plain: true }), text);
});

test('a tag of more than 4 KiB is not read, nor are more than 16 levels', () => {
  assert.is(told(`<a b="${'x'.repeat(4_000)}"/>`)?.length, 2);
  assert.is(told(`<a b="${'x'.repeat(4_100)}"/>`), undefined);
  assert.is(told(`<${'a'.repeat(4_100)}/>`), undefined);
  assert.is(told(`<a ${' '.repeat(4_100)}/>`), undefined);
  assert.is(told(`<a></a${' '.repeat(4_100)}>`), undefined);
  assert.ok(told('<a>'.repeat(16) + '</a>'.repeat(16)));
  assert.is(told('<a>'.repeat(17) + '</a>'.repeat(17)), undefined);
});

test('elements, comments and instructions are counted, and no more are seen than are taken', () => {
  for (const one of ['<b/>', '<b></b>', '<!-- -->', '<?x?>', '<c/>']) {
    assert.ok(told(`<a>${one.repeat(9)}</a>`, { most: 10 }), one);
    assert.is(told(`<a>${one.repeat(10)}</a>`, { most: 10 }), undefined, one);
  }
  let seen = 0;
  const count = { open: () => void seen++, close: () => undefined };
  const code = refusal(() =>
    scanXml(Buffer.from(`<a>${'<b/>'.repeat(100_000)}`), count, { names: [], most: 50 }),
  );
  assert.equal([code, seen], ['MalformedXML', 50]);
});

const piece = fc.constantFrom(
  ...['<a>', '</a>', '<b/>', '<', '>', '&amp;', '&lt;', '&apos;', '&#65;', '&#x1F600;', '&#0;', '&#xD800;'],
  ...['&#x110000;', '&#x;', '&#6a;', '&#00000065;', '&#0000065;', '&#xfF;', '&nbsp;', '&', ';', 'ä', '😀'],
  ...['\u0001', 'text', '/', '\r', '\n', ']]>', '<!--', '-->', '<?x', '?>', '-', '\uFEFF'],
);
const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
/** The other parser takes this for an instruction. */
const isOdd = (text: string) => text.includes('<?>');

test('content is read as another parser reads it, wherever it stands', () => {
  let both = 0;
  fc.assert(
    fc.property(texts, texts, (before, text) => {
      fc.pre(!isOdd(text));
      const bytes = Buffer.from(`${before}${text}${before}`);
      const start = Buffer.byteLength(before);
      const read = decodeText(bytes, start, start + Buffer.byteLength(text));
      const expected = treeText(text);
      if (read === undefined || expected === undefined) return assert.is(read, expected, text);
      both++;
      assert.is(read, expected);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(both > 500, `${both} were read`);
});

/** Undefined for what is no text, or is refused. */
function treeText(text: string): string | undefined {
  try {
    const { children } = parseTree(`<r><t>${text}</t></r>`, 'r');
    const [element, second] = children.get('t') as XmlElement[];
    return second === undefined && element?.children.size === 0 ? element.text : undefined;
  } catch {
    return undefined;
  }
}

test('long content is read whole', () => {
  const text = `${'&amp;ä'.repeat(5_000)}&#x10FFFF;`;
  assert.is(decodeText(Buffer.from(text)), `${'&ä'.repeat(5_000)}\u{10FFFF}`);
});

test.run();
