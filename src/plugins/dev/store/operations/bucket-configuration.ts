import { S3Error } from '../../../../core/s3/error.ts';
import { s3Error } from '../../../../core/s3/error-catalog.ts';
import { namespace } from '../documents.ts';
import type { StoreHandler } from '../exchange.ts';

type Told = string | (() => S3Error);

const absent = (code: string, message: string) => () => new S3Error(code, 404, message);

/** What a bucket without any configuration says. Changing it is not implemented. */
const defaults: Readonly<Record<string, Told>> = {
  versioning: `<VersioningConfiguration ${namespace}/>`,
  location: `<LocationConstraint ${namespace}/>`,
  'object-lock': absent(
    'ObjectLockConfigurationNotFoundError',
    'Object Lock configuration does not exist for this bucket',
  ),
  tagging: absent('NoSuchTagSet', 'The TagSet does not exist'),
  lifecycle: absent('NoSuchLifecycleConfiguration', 'The lifecycle configuration does not exist'),
  policy: absent('NoSuchBucketPolicy', 'The bucket policy does not exist'),
  cors: absent('NoSuchCORSConfiguration', 'The CORS configuration does not exist'),
};

export const readBucketConfiguration: StoreHandler = ({ catalog, request, reply }) => {
  catalog.bucket(request.bucket);
  const told = Object.entries(defaults).find(([name]) => request.query.has(name))?.[1];
  if (told === undefined) throw s3Error('NotImplemented');
  if (typeof told !== 'string') throw told();
  reply.xml(200, told);
};
