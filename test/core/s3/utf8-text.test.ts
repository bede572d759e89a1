import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scanXml, Utf8Text, unescapeXml } from '../../../src/core/s3/xml-text.ts';

const test = suite('documents in UTF-8');

const piece = fc.constantFrom(
  ...[
    '<a>',
    '</a>',
    '<b/>',
    '<',
    '>',
    '&amp;',
    '&lt;',
    '&apos;',
    '&#65;',
    '&#x1F600;',
    '&#0;',
    '&#xD800;',
    '&#x110000;',
    '&#x;',
    '&#6a;',
    '&#00000065;',
    '&#xfF;',
    '&nbsp;',
    '&',
  ],
  ...[';', 'ä', '😀', '\u0001', 'text', '/', '<?xml version="1.0"?>', '\uFEFF', '?>'],
);
const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

/** What a walk tells, with the texts that its offsets stand for. */
function told(text: string | Utf8Text): readonly string[] | undefined {
  const seen: string[] = [];
  const walked = scanXml(text, {
    open: (name, depth, start, content) => seen.push(`<${name} ${depth} ${text.slice(start, content)}`),
    close: (name, depth, content, end) => seen.push(`>${name} ${depth} ${text.slice(content, end)}`),
  });
  return walked ? seen : undefined;
}

test('a walk tells the same of a body as of its text', () => {
  fc.assert(
    fc.property(texts, (text) => assert.equal(told(new Utf8Text(Buffer.from(text))), told(text))),
    { numRuns: 2_000 },
  );
});

test('content reads as the same text, and not at all where it is more than text', () => {
  fc.assert(
    fc.property(texts, texts, (before, text) => {
      const body = new Utf8Text(Buffer.from(`${before}${text}&lt;`));
      const start = Buffer.byteLength(before);
      const expected = text.includes('<') ? undefined : unescapeXml(text);
      assert.is(body.text(start, start + Buffer.byteLength(text)), expected);
    }),
    { numRuns: 2_000 },
  );
});

test('long content is read whole', () => {
  const text = `${'&amp;ä'.repeat(5_000)}&#x10FFFF;`;
  assert.is(
    new Utf8Text(Buffer.from(text)).text(0, Buffer.byteLength(text)),
    `${'&ä'.repeat(5_000)}\u{10FFFF}`,
  );
});

test('a tag of more than 4 KiB is not read, nor is other white space around the root', () => {
  assert.is(told(`<a b="${'x'.repeat(4_000)}"/>`)?.length, 2);
  assert.is(told(`<a b="${'x'.repeat(4_100)}"/>`), undefined);
  assert.is(told(`<a></a${' '.repeat(4_100)}>`), undefined);
  assert.is(told(` \t\r\n<a/> \n`)?.length, 2);
  assert.is(told('\u00a0<a/>'), undefined);
});

test.run();
