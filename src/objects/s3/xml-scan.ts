import { s3Error } from './error.ts';
import { endOfAside } from './xml-text.ts';

/**
 * Receives every element of a document; offsets are bytes. `name` is the local name, without the prefix of a namespace,
 * as it stands in `names`; undefined for every other one.
 */
export interface ElementVisitor {
  /** The root has `depth` 1; `start` is the offset of the tag, `content` the offset after it. */
  open(name: string | undefined, depth: number, start: number, content: number): void;
  /** `content` is the offset of the end tag, `end` the offset after it. */
  close(name: string | undefined, depth: number, content: number, end: number): void;
}

export interface ScanBounds {
  /** Local names to tell; one that ends in `*` stands for all that begin so. */
  readonly names: readonly string[];
  /** Elements, comments and processing instructions together. */
  readonly most: number;
  /**
   * Refuses what some clients would read otherwise than this scanner: prefixes, comments and processing instructions.
   * For documents that are handed on.
   */
  readonly plain?: boolean;
}

const maxDepth = 16;
/** Bytes; S3's own tags have a namespace at most. */
const maxTag = 4 * 1024;

/**
 * Walks the elements of a document, as they stand, in time that grows with its bytes alone. Makes no object or string for
 * any of them, so whoever sends the document decides nothing about memory. Document types, CDATA, more than 16 levels,
 * tags of more than 4 KiB and more than `most` elements are refused. Attributes are checked and passed over.
 * @throws S3Error MalformedXML, and whatever `visitor` throws
 */
export function scanXml(bytes: Buffer, visitor: ElementVisitor, bounds: ScanBounds): void {
  new Scanner(bytes, visitor, bounds).run();
}

const malformed = () => s3Error('MalformedXML');

const codes = {
  ...{ less: 0x3c, greater: 0x3e, slash: 0x2f, bang: 0x21, question: 0x3f },
  ...{ equals: 0x3d, quote: 0x22, apostrophe: 0x27, colon: 0x3a },
};

const isBlank = tableOf((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
/** In other alphabets than the Latin one, any byte of a name is one of these. */
const beginsName = tableOf((byte) => byte >= 0x80 || /[A-Za-z_]/.test(String.fromCharCode(byte)));
const isOfName = tableOf((byte) => byte >= 0x80 || /[\w:.-]/.test(String.fromCharCode(byte)));

function tableOf(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_none, byte) => (holds(byte) ? 1 : 0));
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #visitor: ElementVisitor;
  readonly #names: KnownNames;
  readonly #plain: boolean;
  #left: number;
  #depth = 0;
  /** Of the elements that are open, by depth: where the name begins and ends, and the name if it is told. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #told: (string | undefined)[] = [];

  constructor(bytes: Buffer, visitor: ElementVisitor, { names, most, plain = false }: ScanBounds) {
    this.#bytes = bytes;
    this.#visitor = visitor;
    this.#names = new KnownNames(names);
    this.#plain = plain;
    this.#left = most;
  }

  run(): void {
    const bytes = this.#bytes;
    let at = startOf(bytes);
    let roots = 0;
    for (;;) {
      const outside = this.#depth === 0;
      const start = outside ? this.#afterBlanks(at, bytes.length) : nextTag(bytes, at);
      if (start >= bytes.length) break;
      if (bytes[start] !== codes.less) throw malformed();
      const kind = bytes[start + 1];
      if (kind === codes.slash) {
        at = this.#endTag(start);
        continue;
      }
      if (this.#left-- <= 0) throw malformed();
      if (kind === codes.bang || kind === codes.question) at = this.#aside(start);
      else if (outside && roots++ > 0) throw malformed();
      else at = this.#startTag(start);
    }
    if (this.#depth > 0 || roots === 0) throw malformed();
  }

  #afterBlanks(from: number, end: number): number {
    let at = from;
    while (at < end && isBlank[this.#bytes[at] as number] === 1) at++;
    return at;
  }

  /** A comment or a processing instruction; anything else with `<!` has no end here. */
  #aside(start: number): number {
    const end = this.#plain ? -1 : endOfAside(this.#bytes, start);
    if (end < 0) throw malformed();
    return end;
  }

  #startTag(start: number): number {
    const bytes = this.#bytes;
    const limit = Math.min(bytes.length, start + maxTag);
    const nameEnd = this.#nameEnd(start + 1, limit);
    const close = this.#afterAttributes(nameEnd, limit);
    const isEmpty = bytes[close] === codes.slash;
    const content = close + (isEmpty ? 2 : 1);
    if (this.#depth >= maxDepth) throw malformed();
    const depth = ++this.#depth;
    const name = this.#names.find(bytes, this.#localStart(start + 1, nameEnd), nameEnd);
    this.#visitor.open(name, depth, start, content);
    if (isEmpty) {
      this.#depth--;
      this.#visitor.close(name, depth, content, content);
    } else {
      this.#starts[depth] = start + 1;
      this.#ends[depth] = nameEnd;
      this.#told[depth] = name;
    }
    return content;
  }

  #nameEnd(start: number, limit: number): number {
    const bytes = this.#bytes;
    if (start >= limit || beginsName[bytes[start] as number] !== 1) throw malformed();
    let at = start + 1;
    while (at < limit && isOfName[bytes[at] as number] === 1) at++;
    return at;
  }

  /** After the colon, if there is one. */
  #localStart(start: number, end: number): number {
    for (let at = start; at < end; at++) {
      if (this.#bytes[at] !== codes.colon) continue;
      if (this.#plain) throw malformed();
      return at + 1;
    }
    return start;
  }

  /** Passes `name="value"` over; the offset of the `>` or `/>`. */
  #afterAttributes(from: number, limit: number): number {
    const bytes = this.#bytes;
    for (let at = from; ; ) {
      const next = this.#afterBlanks(at, limit);
      if (next >= limit) throw malformed();
      if (bytes[next] === codes.greater) return next;
      if (bytes[next] === codes.slash && bytes[next + 1] === codes.greater) return next;
      if (next === at) throw malformed();
      const equals = this.#afterBlanks(this.#nameEnd(next, limit), limit);
      if (equals >= limit || bytes[equals] !== codes.equals) throw malformed();
      at = this.#afterValue(this.#afterBlanks(equals + 1, limit), limit);
    }
  }

  #afterValue(start: number, limit: number): number {
    const quote = this.#bytes[start];
    if (quote !== codes.quote && quote !== codes.apostrophe) throw malformed();
    for (let at = start + 1; at < limit; at++) {
      const byte = this.#bytes[at];
      if (byte === quote) return at + 1;
      if (byte === codes.less) throw malformed();
    }
    throw malformed();
  }

  #endTag(start: number): number {
    const bytes = this.#bytes;
    const depth = this.#depth;
    if (depth === 0) throw malformed();
    const from = this.#starts[depth] as number;
    const length = (this.#ends[depth] as number) - from;
    const after = start + 2 + length;
    for (let index = 0; index < length; index++)
      if (bytes[start + 2 + index] !== bytes[from + index]) throw malformed();
    const close = this.#afterBlanks(after, Math.min(bytes.length, start + maxTag));
    if (bytes[close] !== codes.greater) throw malformed();
    this.#depth--;
    this.#visitor.close(this.#told[depth], depth, start, close + 1);
    return close + 1;
  }
}

const mark = Buffer.from('\uFEFF');
const declaration = Buffer.from('<?xml');

/** After the byte order mark and the declaration, which is no processing instruction and may stand nowhere else. */
function startOf(bytes: Buffer): number {
  const start = bytes.subarray(0, mark.length).equals(mark) ? mark.length : 0;
  const begins = bytes.subarray(start, start + declaration.length).equals(declaration);
  return begins ? Math.max(start, endOfAside(bytes, start)) : start;
}

function nextTag(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== codes.less) at++;
  return at;
}

interface KnownName {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Finds names without making a string of what is compared. */
class KnownNames {
  readonly #byLength: KnownName[][] = [];
  readonly #beginnings: KnownName[] = [];

  constructor(names: readonly string[]) {
    for (const name of new Set(names)) {
      const isBeginning = name.endsWith('*');
      const bytes = Buffer.from(isBeginning ? name.slice(0, -1) : name);
      this.#byLength[bytes.length] ??= [];
      const known = isBeginning ? this.#beginnings : this.#byLength[bytes.length];
      known?.push({ name, bytes });
    }
  }

  find(bytes: Buffer, start: number, end: number): string | undefined {
    return (
      named(this.#byLength[end - start] ?? none, bytes, start) ??
      (this.#beginnings.length === 0 ? undefined : named(this.#beginnings, bytes, start))
    );
  }
}

const none: readonly KnownName[] = [];

function named(known: readonly KnownName[], bytes: Buffer, start: number): string | undefined {
  for (const { name, bytes: word } of known) {
    let index = 0;
    while (index < word.length && bytes[start + index] === word[index]) index++;
    if (index === word.length) return name;
  }
  return undefined;
}
