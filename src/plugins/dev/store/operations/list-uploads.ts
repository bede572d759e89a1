import type { Query } from '../../../../core/s3/request.ts';
import { element } from '../../../../core/s3/xml-write.ts';
import type { Bucket } from '../bucket.ts';
import { isoTime, namespace, owner } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';
import type { Upload } from '../model.ts';
import { echoXml, nameWriter, pageRequest, prefixesXml, takePage } from '../page.ts';
import { compareKeys } from '../sorted-map.ts';

const separator = '\0';

/** ListMultipartUploads: by key, then by upload id. */
export const listUploads: StoreHandler = ({ catalog, request, reply }) => {
  const { query } = request;
  const bucket = catalog.bucket(request.bucket);
  const wanted = pageRequest(query, markerOf(query), 'max-uploads');
  const write = nameWriter(query);
  const page = takePage(entriesOf(bucket, wanted.prefix), wanted);
  const [nextKey = '', nextId = ''] = page.next?.split(separator) ?? [];
  const fields = [
    element('Bucket', bucket.name),
    write('KeyMarker', query.get('key-marker') ?? ''),
    element('UploadIdMarker', query.get('upload-id-marker') ?? ''),
    page.next === undefined ? '' : write('NextKeyMarker', nextKey) + element('NextUploadIdMarker', nextId),
    echoXml(query, write),
    element('MaxUploads', wanted.max),
    element('IsTruncated', page.next !== undefined),
    ...page.items.map((upload) => uploadXml(upload, write)),
    prefixesXml(page.prefixes, write),
  ];
  const root = 'ListMultipartUploadsResult';
  reply.xml(200, `<${root} ${namespace}>${fields.join('')}</${root}>`);
};

/** An entry's name is its key, a NUL, which no key holds, and its id; without an id the marker is behind all of the key. */
function markerOf(query: Query): string {
  const key = query.get('key-marker') ?? '';
  if (key === '') return '';
  const id = query.get('upload-id-marker');
  return id ? `${key}${separator}${id}` : isGroup(query, key) ? key : `${key}\x01`;
}

const isGroup = (query: Query, key: string): boolean => {
  const delimiter = query.get('delimiter');
  return delimiter ? key.endsWith(delimiter) : false;
};

function entriesOf({ uploads }: Bucket, prefix: string): (readonly [string, Upload])[] {
  return [...uploads.values()]
    .map(({ upload }) => [`${upload.key}${separator}${upload.id}`, upload] as const)
    .filter(([name]) => name.startsWith(prefix))
    .sort(([left], [right]) => compareKeys(left, right));
}

function uploadXml({ key, id, begun }: Upload, write: ReturnType<typeof nameWriter>): string {
  const fields = [
    write('Key', key),
    element('UploadId', id),
    owner,
    element('StorageClass', 'STANDARD'),
    element('Initiated', isoTime(begun)),
  ];
  return `<Upload>${fields.join('')}</Upload>`;
}
