export const KiB = 1024;
export const MiB = 1024 * KiB;

/** `before`, `piece` as often as it fits, `after`: exactly `bytes` at most. */
export function filled(
  bytes: number,
  before: string,
  piece: string | ((index: number) => string),
  after: string,
): Buffer {
  const room = bytes - Buffer.byteLength(before) - Buffer.byteLength(after);
  if (typeof piece === 'string') {
    const times = Math.max(0, Math.floor(room / Buffer.byteLength(piece)));
    return Buffer.concat([Buffer.from(before), Buffer.from(piece.repeat(times)), Buffer.from(after)]);
  }
  const pieces: string[] = [];
  let used = 0;
  for (let index = 0; ; index++) {
    const next = piece(index);
    used += Buffer.byteLength(next);
    if (used > room) return Buffer.from(before + pieces.join('') + after);
    pieces.push(next);
  }
}

/** Elements of `name` within each other, as many as fit. */
export function nested(bytes: number, name: string): Buffer {
  const levels = Math.floor(bytes / (2 * name.length + 5));
  return Buffer.from(`<${name}>`.repeat(levels) + `</${name}>`.repeat(levels));
}

/** Short texts that are all different. */
export const numbered = (index: number): string => index.toString(36);

/** What a document with this root can be filled with, each far more in memory than in bytes. */
export function worstXml(root: string, bytes: number, entry: string): Readonly<Record<string, () => Buffer>> {
  const open = `<${root}>`;
  const close = `</${root}>`;
  const of =
    (piece: string | ((index: number) => string), before = open, after = close) =>
    () =>
      filled(bytes, before, piece, after);
  return {
    'empty entries': of(`<${entry}/>`),
    'empty entries behind a comment': of(`<${entry}/>`, `<!-- -->${open}`),
    'empty entries behind a namespace prefix': of(`<${entry}/>`, `<x:${root} xmlns:x="y">`, `</x:${root}>`),
    'the shortest elements': of('<a/>'),
    'elements in elements': of('<b><a/></b>'),
    'elements of ever other names': of((index) => `<a${numbered(index)}/>`),
    'one element within the other': () =>
      Buffer.concat([Buffer.from(open), nested(bytes - 2 * close.length, 'a'), Buffer.from(close)]),
    attributes: of(' a=""', `<${root}`, '/>'),
    'attributes of ever other names': of((index) => ` a${numbered(index)}=""`, `<${root}`, '/>'),
    comments: of('<!---->'),
    'sections of characters': of('<![CDATA[]]>'),
    instructions: of('<?a?>'),
    entities: of('&lt;', `${open}<${entry}><Key>`, `</Key></${entry}>${close}`),
    blanks: of(' '),
  };
}

/** What a JSON text can be filled with. */
export function worstJson(
  bytes: number,
  before = '{"a":',
  after = '}',
): Readonly<Record<string, () => Buffer>> {
  const list = (piece: string | ((index: number) => string), last: string) => () =>
    filled(bytes, `${before}[`, piece, `${last}]${after}`);
  const levels = Math.floor((bytes - before.length - after.length) / 2);
  return {
    'empty objects': list('{},', '{}'),
    'empty lists': list('[],', '[]'),
    'empty texts': list('"",', '""'),
    numbers: list('0,', '0'),
    fractions: list('.1,'.replace('.', '0.'), '0'),
    'objects of one member': list('{"a":0},', '0'),
    'members of ever other names': () =>
      filled(bytes, `${before}{`, (index) => `"${numbered(index)}":0,`, `"":0}${after}`),
    'one list within the other': () => Buffer.from(before + '['.repeat(levels) + ']'.repeat(levels) + after),
    escapes: () => filled(bytes, `${before}"`, '\\u0041', `"${after}`),
  };
}

/** What `make` returns, made at the first call. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
