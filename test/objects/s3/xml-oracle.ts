import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** An element: its text if it has no children, and its children by name, in order. Attributes are ignored. */
export interface XmlElement {
  readonly text: string;
  readonly children: ReadonlyMap<string, readonly XmlElement[]>;
}

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
  maxNestedTags: 16,
});

/**
 * The document as somebody else's parser understands it, whose bounds are none: by it the scanner is judged. Document
 * types, other entities than XML's five and CDATA are refused. @throws Error
 */
export function parseTree(text: string, rootName: string): XmlElement {
  if (/<!(?!--)/.test(text)) throw new Error('a declaration');
  const valid = XMLValidator.validate(text.replace(/^\uFEFF/, ''));
  if (valid !== true) throw new Error(valid.err.msg);
  const root: unknown = parser.parse(text.replace(/^\uFEFF/, ''))[rootName];
  if (root === undefined || Array.isArray(root)) throw new Error(`no ${rootName}`);
  return toElement(root);
}

function toElement(value: unknown): XmlElement {
  if (typeof value !== 'object' || value === null)
    return { text: decoded(String(value)), children: new Map() };
  const children = new Map<string, readonly XmlElement[]>();
  for (const [name, child] of Object.entries(value)) {
    if (name !== textName) children.set(name, (Array.isArray(child) ? child : [child]).map(toElement));
  }
  return { text: '', children };
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(
    /&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));|&/g,
    (_all, name, decimal, hex) => {
      if (name) return predefined[name] as string;
      const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
      if (!(code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)))
        throw new Error('a reference');
      return String.fromCodePoint(code);
    },
  );
}

/** Text of the only child with this name. @throws Error if there are several */
export function childText(element: XmlElement, name: string): string | undefined {
  const found = element.children.get(name) ?? [];
  if (found.length > 1) throw new Error(`several ${name}`);
  return found[0]?.text;
}
