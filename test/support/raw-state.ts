import {
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type MultipartUpload,
} from '@aws-sdk/client-s3';
import type { Rig } from './rig.ts';

/** Everything in the bucket as the store itself has it: objects, helper objects, open uploads and their parts. */
export async function rawState(rig: Rig): Promise<string[]> {
  const { store, bucket: Bucket } = rig;
  const [{ Contents = [] }, { Uploads = [] }] = await Promise.all([
    store.client.send(new ListObjectsV2Command({ Bucket })),
    store.client.send(new ListMultipartUploadsCommand({ Bucket })),
  ]);
  const parts = await Promise.all(Uploads.map((upload) => partsOf(rig, upload)));
  return [...Contents.map(({ Key, ETag, Size }) => `${Key} ${ETag} ${Size}`), ...parts.flat()];
}

async function partsOf(
  { store, bucket: Bucket }: Rig,
  { Key, UploadId }: MultipartUpload,
): Promise<string[]> {
  const { Parts = [] } = await store.client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
  const name = `upload ${Key} ${UploadId}`;
  return [name, ...Parts.map(({ PartNumber, ETag, Size }) => `${name} ${PartNumber} ${ETag} ${Size}`)];
}
