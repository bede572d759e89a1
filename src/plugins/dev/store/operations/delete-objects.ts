import {
  maxDeleteBytes,
  type ObjectToDelete,
  parseDeleteObjects,
} from '../../../../core/s3/delete-objects.ts';
import { S3Error } from '../../../../core/s3/error.ts';
import { element } from '../../../../core/s3/xml-write.ts';
import type { Bucket } from '../bucket.ts';
import type { Catalog } from '../catalog.ts';
import { checkWrite } from '../conditions.ts';
import { namespace } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';

export const deleteObject: StoreHandler = ({ catalog, request, reply }) => {
  const bucket = catalog.bucket(request.bucket);
  checkWrite(request.headers, bucket.objects.get(request.key));
  catalog.remove(bucket, request.key);
  reply.empty(204);
};

export const deleteObjects: StoreHandler = async ({ catalog, request, payload, reply }) => {
  const bucket = catalog.bucket(request.bucket);
  const xml = (await payload.read(maxDeleteBytes)).toString();
  const { quiet, objects } = parseDeleteObjects(xml);
  const results = objects.map((object) => deleteOne(catalog, bucket, object, quiet));
  reply.xml(200, `<DeleteResult ${namespace}>${results.join('')}</DeleteResult>`);
};

function deleteOne(catalog: Catalog, bucket: Bucket, { key, etag }: ObjectToDelete, quiet: boolean): string {
  try {
    checkWrite(etag === undefined ? {} : { 'if-match': etag }, bucket.objects.get(key));
    catalog.remove(bucket, key);
    return quiet ? '' : `<Deleted>${element('Key', key)}</Deleted>`;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    const fields = [element('Key', key), element('Code', error.code), element('Message', error.message)];
    return `<Error>${fields.join('')}</Error>`;
  }
}
