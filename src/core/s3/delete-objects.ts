import { s3Error } from './error-catalog.ts';
import { childText, parseXml, type XmlElement } from './xml.ts';
import { element } from './xml-write.ts';

/** ETag and LastModifiedTime are conditions; the ETag is in the form of the document. */
export interface ObjectToDelete {
  readonly key: string;
  readonly versionId?: string;
  readonly etag?: string;
  readonly lastModifiedTime?: string;
}

export interface DeleteObjectsRequest {
  readonly quiet: boolean;
  readonly objects: readonly ObjectToDelete[];
}

const maxObjects = 1000;
/** S3's own bound. */
export const maxDeleteBytes = 2 * 1024 * 1024;
/** Of an answer, which has a message for each key that could not be deleted. */
export const maxDeleteResultBytes = 8 * 1024 * 1024;

const conditions = { versionId: 'VersionId', etag: 'ETag', lastModifiedTime: 'LastModifiedTime' } as const;

/** 1 to 1,000 keys. Keys are as the caller gave them: check each with `checkKey`. @throws S3Error MalformedXML, NotImplemented for a condition on the size, which the store has for ciphertext */
export function parseDeleteObjects(xml: string): DeleteObjectsRequest {
  const root = parseXml(xml, 'Delete', maxDeleteBytes);
  const objects = (root.children.get('Object') ?? []).map(readObject);
  if (objects.length === 0 || objects.length > maxObjects) throw s3Error('MalformedXML');
  return { quiet: childText(root, 'Quiet')?.trim() === 'true', objects };
}

function readObject(object: XmlElement): ObjectToDelete {
  const key = childText(object, 'Key');
  if (!key) throw s3Error('MalformedXML');
  if (object.children.has('Size')) throw s3Error('NotImplemented', 'A condition on the stored size.');
  const read: Record<string, string> = {};
  for (const [name, tag] of Object.entries(conditions)) {
    const value = childText(object, tag);
    if (value !== undefined) read[name] = value;
  }
  return { key, ...read };
}

/** The document for the store. */
export function deleteObjectsXml({ quiet, objects }: DeleteObjectsRequest): string {
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<Delete ${namespace}>${objects.map(objectXml).join('')}${element('Quiet', quiet)}</Delete>`;
}

function objectXml(object: ObjectToDelete): string {
  const rest = Object.entries(conditions).map(([name, tag]) => {
    const value = object[name as keyof typeof conditions];
    return value === undefined ? '' : element(tag, value);
  });
  return `<Object>${element('Key', object.key)}${rest.join('')}</Object>`;
}
