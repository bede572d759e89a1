import fc from 'fast-check';

/** What a document looks like that a parser reads. */
export interface XmlForm {
  readonly root: string;
  /** Open around the entries, such as `AccessControlList`. */
  readonly list?: string;
  /** Names of the entries. */
  readonly entries: readonly string[];
  readonly mostEntries: number;
  /** The shortest entry of this index that is taken. */
  readonly entry: (index: number) => string;
  readonly fields: readonly string[];
  /** Bytes that are read at most. */
  readonly bytes: number;
}

const start = ({ root, list }: XmlForm): string => `<${root}>${list === undefined ? '' : `<${list}>`}`;
const end = ({ root, list }: XmlForm): string => `${list === undefined ? '' : `</${list}>`}</${root}>`;

/** As many of the pieces as fit, within the root. */
export function filled(
  form: XmlForm,
  piece: string | ((index: number) => string),
  before = '',
  after = '',
): Buffer {
  const [first, last] = [start(form) + before, after + end(form)];
  let left = form.bytes - Buffer.byteLength(first + last);
  if (typeof piece === 'string')
    return Buffer.from(first + piece.repeat(Math.floor(left / Buffer.byteLength(piece))) + last);
  const pieces = [first];
  for (let index = 0; ; index++) {
    const text = piece(index);
    left -= Buffer.byteLength(text);
    if (left < 0) break;
    pieces.push(text);
  }
  return Buffer.from([...pieces, last].join(''));
}

const entryOf = ({ entries: [name = 'x'] }: XmlForm, inner: string): string => `<${name}>${inner}</${name}>`;

/** Documents of the largest size, each the worst in another way. */
export function worstOf(form: XmlForm): Readonly<Record<string, () => Buffer>> {
  const [name = 'x', field = 'x'] = [form.entries[0], form.fields[0]];
  const most = (make: (index: number) => string) =>
    Array.from({ length: form.mostEntries }, (_none, at) => make(at)).join('');
  const inEntry = (piece: string) => filled(form, piece, `<${name}><${field}>`, `</${field}></${name}>`);
  const all = (text: string) => form.fields.map((one) => `<${one}>${text}</${one}>`).join('');
  return {
    'the shortest entries, as many as are taken': () =>
      Buffer.from(start(form) + most(form.entry) + end(form)),
    'the shortest entries, as many as fit': () => filled(form, form.entry),
    'empty entries': () => filled(form, `<${name}/>`),
    'empty entries with a prefix': () => filled(form, `<x:${name}/>`),
    'entries with every field': () => filled(form, entryOf(form, all('1'))),
    'entries with every field empty': () => filled(form, entryOf(form, all(''))),
    'entries of every kind': () =>
      filled(
        form,
        (at) =>
          `<${form.entries[at % form.entries.length]}><Key>a</Key></${form.entries[at % form.entries.length]}>`,
      ),
    'unknown elements': () => filled(form, '<a/>'),
    'unknown elements in elements': () => filled(form, '<b><a/></b>'),
    'each element with a name of its own': () => filled(form, (at) => `<a${at.toString(36)}/>`),
    'fields without entries': () => filled(form, `<${field}/>`),
    comments: () => filled(form, '<!---->'),
    'comments that begin in comments': () => filled(form, '<!--<!-->'),
    'a comment without end': () => filled(form, '-', '<!--').subarray(0, -end(form).length),
    instructions: () => filled(form, '<?a?>'),
    'beginnings of tags': () => filled(form, '<'),
    'beginnings of end tags': () => filled(form, '</'),
    'beginnings of CDATA': () => filled(form, '<![CDATA['),
    'ends of tags': () => filled(form, '>'),
    'attributes of 4 KiB': () => filled(form, `<a${' b=">"'.repeat(670)}/>`),
    'an attribute without end': () => filled(form, ' ', '<a b="', '"/>'),
    'a tag of blanks': () => filled(form, ' ', '<a', '/>'),
    blanks: () => filled(form, ' '),
    depth: () => filled(form, '<a>'),
    'one field of entities': () => inEntry('&amp;'),
    'one field of references': () => inEntry('&#x1F600;'),
    'one field of ampersands': () => inEntry('&'),
    'one field of comments': () => inEntry('a<!-- -->'),
    'one field of returns': () => inEntry('\r\n'),
    'one long field': () => inEntry('a'),
    'one long field of other letters': () => inEntry('漢'),
    'entries with fields of entities': () =>
      filled(form, (at) => form.entry(at) + entryOf(form, `<${field}>${'&amp;'.repeat(300)}</${field}>`)),
  };
}

const text = fc
  .array(
    fc.constantFrom(
      '1',
      'a',
      ' ',
      '&amp;',
      '&#x1F600;',
      '&#65;',
      'é',
      '漢',
      '\r\n',
      '<!-- -->',
      '<?x?>',
      '"',
    ),
    { maxLength: 8 },
  )
  .map((pieces) => pieces.join(''));
const attributes = fc.constantFrom('', '', '', ' a="b"', " a='>'", ` ${'c="d" '.repeat(20)}`);
const prefix = fc.constantFrom('', '', '', 's:');
const repeated = fc.oneof(
  { weight: 6, arbitrary: fc.nat(8) },
  { weight: 3, arbitrary: fc.nat(200) },
  { weight: 1, arbitrary: fc.nat(20_000) },
);

/** Documents of this form, most of them whole: elements at their places and elsewhere, many times, and other markup. */
export function documentsOf(form: XmlForm): fc.Arbitrary<Buffer> {
  const field = fc
    .tuple(fc.constantFrom(...form.fields, 'Other'), prefix, attributes, text)
    .map(([name, before, given, inner]) =>
      inner === '' ? `<${before}${name}${given}/>` : `<${before}${name}${given}>${inner}</${before}${name}>`,
    );
  const entry = fc
    .tuple(fc.constantFrom(...form.entries), prefix, attributes, fc.array(field, { maxLength: 4 }))
    .map(
      ([name, before, given, fields]) => `<${before}${name}${given}>${fields.join('')}</${before}${name}>`,
    );
  const odd = fc.constantFrom(
    ...[
      '<a/>',
      '<b><a/></b>',
      '<!-- -->',
      '<?x?>',
      ' ',
      '\n',
      'text',
      '&amp;',
      '<a>'.repeat(10) + '</a>'.repeat(10),
    ],
  );
  const piece = fc.oneof(fc.nat(form.mostEntries).map(form.entry), entry, field, odd);
  const many = fc
    .array(fc.tuple(piece, repeated), { maxLength: 6 })
    .map((pieces) =>
      pieces.map(([one, times]) => one.repeat(Math.min(times, 200_000 / one.length))).join(''),
    );
  const whole = many.map((inner) => start(form) + inner + end(form));
  return fc
    .oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: broken(whole) })
    .map((xml) => Buffer.from(xml));
}

/** With something cut out and something put in. */
const broken = (documents: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      documents,
      fc.nat(),
      fc.nat(20),
      fc.constantFrom(...['', '<', '>', '</', '&', '<!--', '<?', '"', '\0', '<![CDATA[x]]>']),
    )
    .map(([xml, place, cut, put]) => {
      const at = place % xml.length;
      return xml.slice(0, at) + put + xml.slice(at + cut);
    });
