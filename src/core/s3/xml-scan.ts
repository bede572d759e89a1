/** Told of every element of a document; offsets are into its text. */
export interface ElementHandler {
  /** `depth` of the root is 1; `start` is where the tag begins, `content` where it ends. */
  open(name: string, depth: number, start: number, content: number): void;
  /** `content` is where the end tag begins, `end` where it ends. */
  close(name: string, depth: number, content: number, end: number): void;
}

const maxDepth = 16;

/**
 * Walks a document's elements without building a tree. Returns false for what is not well-formed and for what the
 * walk does not read: document types, comments and CDATA.
 */
export function scanXml(text: string, handler: ElementHandler): boolean {
  const stack: string[] = [];
  let at = skipDeclaration(text);
  let roots = 0;
  for (;;) {
    const start = text.indexOf('<', at);
    const outside = stack.length === 0;
    if (outside && text.slice(at, start < 0 ? text.length : start).trim() !== '') return false;
    if (start < 0) return outside && roots === 1;
    const gt = text.indexOf('>', start);
    if (gt < 0) return false;
    at = gt + 1;
    if (text[start + 1] === '/') {
      const name = stack.pop();
      if (name === undefined || text.slice(start + 2, gt).trimEnd() !== name) return false;
      handler.close(name, stack.length + 1, start, at);
      continue;
    }
    const tag = readTag(text, start, gt);
    if (tag === undefined || stack.length >= maxDepth) return false;
    if (outside && roots++ > 0) return false;
    handler.open(tag.name, stack.length + 1, start, at);
    if (tag.empty) handler.close(tag.name, stack.length + 1, at, at);
    else stack.push(tag.name);
  }
}

function skipDeclaration(text: string): number {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  if (!text.startsWith('<?xml', start)) return start;
  const end = text.indexOf('?>', start);
  return end < 0 ? text.length : end + 2;
}

const attributes = /^(?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*$/;

function readTag(text: string, start: number, gt: number): { name: string; empty: boolean } | undefined {
  const empty = text[gt - 1] === '/';
  const inner = text.slice(start + 1, empty ? gt - 1 : gt);
  const name = /^[A-Za-z_][\w:.-]*/.exec(inner)?.[0];
  if (name === undefined) return undefined;
  return name.length === inner.length || attributes.test(inner.slice(name.length))
    ? { name, empty }
    : undefined;
}
