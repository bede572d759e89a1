import type { PartEntry } from '../../../core/envelope/manifest.ts';
import { element } from '../../../core/s3/xml-write.ts';

export interface PartsPage {
  /** Part number after which the page begins. */
  readonly marker: number;
  /** Most parts on it. */
  readonly limit: number;
}

/** `<ObjectParts>` of an encrypted object as GetObjectAttributes writes it, with plaintext sizes. */
export function objectPartsXml(parts: readonly PartEntry[], { marker, limit }: PartsPage): string {
  const behind = parts.filter(({ n }) => n > marker);
  const page = behind.slice(0, Math.min(limit, 1000));
  const truncated = behind.length > page.length;
  const fields = [
    element('IsTruncated', truncated),
    element('MaxParts', Math.min(limit, 1000)),
    // Paginators go on for as long as there is one.
    ...(truncated ? [element('NextPartNumberMarker', page.at(-1)?.n ?? marker)] : []),
    element('PartNumberMarker', marker),
    element('PartsCount', parts.length),
    ...page.map(({ n, size }) => `<Part>${element('PartNumber', n)}${element('Size', size)}</Part>`),
  ];
  return `<ObjectParts>${fields.join('')}</ObjectParts>`;
}
