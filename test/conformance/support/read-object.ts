import { GetObjectCommand, type GetObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';

type Wanted = Omit<GetObjectCommandInput, 'Bucket' | 'Key'>;

/** The whole answer to a GET, in memory. */
export async function readObject(
  s3: S3Client,
  Bucket: string,
  Key: string,
  wanted: Wanted = {},
): Promise<{
  readonly body: Buffer;
  readonly range: string | undefined;
  readonly parts: number | undefined;
}> {
  const { Body, ContentRange, PartsCount } = await s3.send(new GetObjectCommand({ Bucket, Key, ...wanted }));
  const body = Buffer.from((await Body?.transformToByteArray()) ?? []);
  return { body, range: ContentRange, parts: PartsCount };
}
