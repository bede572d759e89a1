import { s3Error } from '../../../core/s3/error-catalog.ts';
import { parseQueryEntries } from '../../../core/s3/query.ts';
import { childText, parseXml, type XmlElement } from '../../../core/s3/xml.ts';
import { element } from '../../../core/s3/xml-write.ts';
import { namespace } from './documents.ts';
import type { Tags } from './model.ts';

const mostTags = 10;
export const maxTaggingBytes = 64 * 1024;

/** `x-amz-tagging`: `name=value&name=value`. @throws S3Error InvalidArgument */
export function parseTagHeader(header: string | string[] | undefined): Tags {
  return header === undefined ? [] : checked(parseQueryEntries(String(header)));
}

/** A `Tagging` document. @throws S3Error MalformedXML, InvalidArgument */
export function parseTagging(xml: string): Tags {
  const [set] = parseXml(xml, 'Tagging', maxTaggingBytes).children.get('TagSet') ?? [];
  if (set === undefined) throw s3Error('MalformedXML');
  return checked((set.children.get('Tag') ?? []).map(readTag));
}

function readTag(tag: XmlElement): [string, string] {
  const [name, value] = [childText(tag, 'Key'), childText(tag, 'Value')];
  if (name === undefined || value === undefined) throw s3Error('MalformedXML');
  return [name, value];
}

function checked(tags: Tags): Tags {
  const names = new Set(tags.map(([name]) => name));
  if (tags.length > mostTags || names.size < tags.length || names.has(''))
    throw s3Error('InvalidArgument', 'An object has at most ten tags, each of another name.');
  return tags;
}

export function taggingXml(tags: Tags): string {
  const list = tags.map(([name, value]) => `<Tag>${element('Key', name)}${element('Value', value)}</Tag>`);
  return `<Tagging ${namespace}><TagSet>${list.join('')}</TagSet></Tagging>`;
}
