import { type BlockBody, inBlocks } from '../../runtime/bounds/block-body.ts';

/** A stretch of a document, in byte offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface SpanEdit extends Span {
  readonly text: string;
}

export const removal = ({ start, end }: Span): SpanEdit => ({ start, end, text: '' });

export const insertion = (at: number, text: string): SpanEdit => ({ start: at, end: at, text });

/** The document with these stretches replaced, as it is sent; one that begins within another is skipped. */
export function replaceSpans(xml: Buffer, replacements: SpanEdit[]): BlockBody {
  replacements.sort((left, right) => left.start - right.start || left.end - right.end);
  let [at, length] = [0, xml.length];
  const applied = replacements.filter(({ start, end, text }) => {
    if (start < at) return false;
    at = end;
    length += Buffer.byteLength(text) - (end - start);
    return true;
  });
  return { length, blocks: inBlocks(pieces(xml, applied)) };
}

function* pieces(xml: Buffer, replacements: readonly SpanEdit[]): Generator<Buffer> {
  let at = 0;
  for (const { start, end, text } of replacements) {
    yield xml.subarray(at, start);
    if (text !== '') yield Buffer.from(text);
    at = end;
  }
  yield xml.subarray(at);
}
