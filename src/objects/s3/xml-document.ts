import { s3Error } from './error.ts';
import { type ElementVisitor, scanXml } from './xml-scan.ts';
import { decodeText } from './xml-text.ts';

/** What is read of a document: its own fields, and entries of fields. Paths are of local names, as in `Owner/ID`. */
export interface DocumentShape {
  /** Name of the root element; undefined if any will do. */
  readonly root: string | undefined;
  /** Wanted texts, below an entry and below the root besides the entries. */
  readonly fields: readonly string[];
  /** Elements below the root that are entries. */
  readonly entries?: readonly string[];
  /** Entries that a document may have; 1,000 by default. */
  readonly mostEntries?: number;
}

/** Texts of an entry or a document, by field: unchanged, with surrounding white space. */
export interface Fields {
  get(field: string): string | undefined;
}

export interface DocumentEntry extends Fields {
  /** Its path below the root. */
  readonly path: string;
  /** Bytes in the document. */
  readonly start: number;
  readonly end: number;
}

export interface ScannedDocument<Read = DocumentEntry> {
  readonly top: Fields;
  readonly entries: readonly Read[];
}

/** S3 answers and takes 1,000 keys, errors, tags or grants at a time. */
const usualEntries = 1_000;
/** Elements of an entry; S3's have up to fourteen. */
const elementsOfEntry = 32;

/**
 * Reads a document of flat fields and entries. It holds no more than the wanted texts, at most eight bytes for each byte
 * of the document; what else it contains takes nothing, and more elements than S3 could mean are refused while they are
 * counted. Keeps no reference to `xml`.
 * @param read makes of an entry what is kept; it may throw, and must not keep the entry itself
 * @throws S3Error MalformedXML for any other document, also if a wanted field stands there twice or contains elements, or
 *   an entry has none
 */
export function scanDocument<Read = DocumentEntry>(
  xml: Buffer,
  shape: DocumentShape,
  read?: (entry: DocumentEntry) => Read,
): ScannedDocument<Read> {
  const { entries = [], fields, mostEntries = usualEntries } = shape;
  const reader = new DocumentReader(xml, shape, read);
  const names = [shape.root ?? '', ...[...entries, ...fields].flatMap((path) => path.split('/'))];
  scanXml(xml, reader, { names, most: (1 + mostEntries) * elementsOfEntry });
  return reader;
}

/** A step of the wanted paths. */
interface Step {
  readonly steps: Map<string, Step>;
  entry?: string;
  field?: number;
}

const step = (): Step => ({ steps: new Map() });

function stepAt(from: Step, path: string): Step {
  let at = from;
  for (const name of path.split('/')) {
    const next = at.steps.get(name) ?? step();
    at.steps.set(name, next);
    at = next;
  }
  return at;
}

function stepsOf({ entries = [], fields }: DocumentShape): Step {
  const root = step();
  for (const [index, field] of fields.entries()) stepAt(root, field).field = index;
  for (const path of entries) {
    const entry = stepAt(root, path);
    entry.entry = path;
    for (const [index, field] of fields.entries()) stepAt(entry, field).field = index;
  }
  return root;
}

/** Takes a third of the memory of a Map. */
class Texts implements DocumentEntry {
  path = '';
  start = 0;
  end = 0;
  readonly #fields: readonly string[];
  readonly #texts: (string | undefined)[];

  constructor(fields: readonly string[]) {
    this.#fields = fields;
    this.#texts = new Array(fields.length).fill(undefined);
  }

  begin(path: string, start: number): this {
    this.path = path;
    this.start = start;
    this.#texts.fill(undefined);
    return this;
  }

  get(field: string): string | undefined {
    return this.#texts[this.#fields.indexOf(field)];
  }

  get isEmpty(): boolean {
    return this.#texts.every((text) => text === undefined);
  }

  /** @throws S3Error MalformedXML for a second text */
  set(field: number, text: string): void {
    if (this.#texts[field] !== undefined) throw s3Error('MalformedXML');
    this.#texts[field] = text;
  }
}

class DocumentReader<Read> implements ElementVisitor, ScannedDocument<Read> {
  readonly top: Texts;
  readonly entries: Read[] = [];
  readonly #xml: Buffer;
  readonly #shape: DocumentShape;
  readonly #read: ((entry: DocumentEntry) => Read) | undefined;
  /** Entries that `read` makes something else of are read into the same one. */
  readonly #passing: Texts;
  #left: number;
  /** Where the path of the open elements leads, by depth; undefined below one that is not wanted. */
  readonly #steps: (Step | undefined)[] = [];
  #entry: Texts | undefined;
  /** Depth and start of the content of the element opened last: a wanted text has no elements of its own. */
  #depth = 0;
  #content = 0;

  constructor(xml: Buffer, shape: DocumentShape, read: ((entry: DocumentEntry) => Read) | undefined) {
    this.#xml = xml;
    this.#shape = shape;
    this.#read = read;
    this.#left = shape.mostEntries ?? usualEntries;
    this.top = new Texts(shape.fields);
    this.#passing = new Texts(shape.fields);
    this.#steps[0] = stepsOf(shape);
  }

  open(name: string | undefined, depth: number, start: number, content: number): void {
    this.#depth = depth;
    this.#content = content;
    const here = depth === 1 ? this.#atRoot(name) : this.#below(depth - 1, name);
    this.#steps[depth] = here;
    if (here?.entry === undefined) return;
    if (this.#left-- <= 0) throw s3Error('MalformedXML');
    const entry = this.#read === undefined ? new Texts(this.#shape.fields) : this.#passing;
    this.#entry = entry.begin(here.entry, start);
  }

  #atRoot(name: string | undefined): Step | undefined {
    const { root } = this.#shape;
    if (root !== undefined && name !== root) throw s3Error('MalformedXML');
    return this.#steps[0];
  }

  #below(depth: number, name: string | undefined): Step | undefined {
    return name === undefined ? undefined : this.#steps[depth]?.steps.get(name);
  }

  close(_name: string | undefined, depth: number, content: number, end: number): void {
    const here = this.#steps[depth];
    if (here?.field !== undefined) this.#keep(here.field, depth, content);
    else if (here?.entry !== undefined) this.#endEntry(end);
  }

  #keep(field: number, depth: number, content: number): void {
    const isLeaf = this.#depth === depth;
    const text = isLeaf ? decodeText(this.#xml, this.#content, content) : undefined;
    if (text === undefined) throw s3Error('MalformedXML');
    (this.#entry ?? this.top).set(field, text);
  }

  #endEntry(end: number): void {
    const entry = this.#entry as Texts;
    if (entry.isEmpty) throw s3Error('MalformedXML');
    entry.end = end;
    this.#entry = undefined;
    this.entries.push(this.#read === undefined ? (entry as Read) : this.#read(entry));
  }
}
