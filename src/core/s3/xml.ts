import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { s3Error } from './error.ts';
import { unescapeXml } from './xml-text.ts';

/** An element: its text if it has no children, and its children by name, in order. Attributes are ignored. */
export interface XmlElement {
  readonly text: string;
  readonly children: ReadonlyMap<string, readonly XmlElement[]>;
}

const maxDepth = 16;
const textName = '#text';

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  processEntities: false,
  removeNSPrefix: true,
  trimValues: false,
  textNodeName: textName,
  maxNestedTags: maxDepth,
});

/**
 * Parses a document whose root element is `rootName`. Document types, entities beyond XML's five, CDATA and deep
 * nesting are rejected.
 * @throws S3Error MaxMessageLengthExceeded above `maxBytes`; MalformedXML
 */
export function parseXml(text: string, rootName: string, maxBytes: number): XmlElement {
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes) throw s3Error('MaxMessageLengthExceeded');
  if (/<!(?!--)/.test(text)) throw s3Error('MalformedXML');
  const root = ownValue(parseStrict(text.replace(/^\uFEFF/, '')), rootName);
  if (root === undefined || Array.isArray(root)) throw s3Error('MalformedXML');
  return toElement(root);
}

function parseStrict(text: string): unknown {
  try {
    if (XMLValidator.validate(text) === true) return parser.parse(text);
  } catch (cause) {
    throw s3Error('MalformedXML', undefined, { cause });
  }
  throw s3Error('MalformedXML');
}

function ownValue(node: unknown, name: string): unknown {
  return typeof node === 'object' && node !== null && Object.hasOwn(node, name)
    ? Reflect.get(node, name)
    : undefined;
}

/** Shared, because a list of 10,000 parts has 30,000 leaves. */
const noChildren: XmlElement['children'] = new Map();

function toElement(value: unknown): XmlElement {
  if (typeof value !== 'object' || value === null)
    return { text: decoded(String(value)), children: noChildren };
  const children = new Map<string, readonly XmlElement[]>();
  for (const [name, child] of Object.entries(value)) {
    if (name !== textName) children.set(name, (Array.isArray(child) ? child : [child]).map(toElement));
  }
  return { text: '', children };
}

function decoded(text: string): string {
  const plain = unescapeXml(text);
  if (plain === undefined) throw s3Error('MalformedXML');
  return plain;
}

/**
 * Text of the only child with this name; undefined if there is none. @throws S3Error MalformedXML if there are several
 */
export function childText(element: XmlElement, name: string): string | undefined {
  const found = element.children.get(name) ?? [];
  if (found.length > 1) throw s3Error('MalformedXML');
  return found[0]?.text;
}
