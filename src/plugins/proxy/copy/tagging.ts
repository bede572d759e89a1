import { encodeComponent } from '../../../core/s3/uri.ts';
import { childText, parseXml } from '../../../core/s3/xml.ts';

/** A tagging document as the header `x-amz-tagging` carries it. @throws S3Error MalformedXML */
export function taggingHeader(xml: string, limit: number): string {
  const [set] = parseXml(xml, 'Tagging', limit).children.get('TagSet') ?? [];
  const tags = set?.children.get('Tag') ?? [];
  const pair = (name: string, value: string) => `${encodeComponent(name)}=${encodeComponent(value)}`;
  return tags.map((tag) => pair(childText(tag, 'Key') ?? '', childText(tag, 'Value') ?? '')).join('&');
}
