import { longSuites } from './support/long-suites.ts';

/** Clients of the proxy that take long to start or are rarer, beside those of `npm test`. */
export const clients = longSuites({
  name: 'clients',
  summary:
    'both versions of the AWS CLI, s3cmd and minio-go through the proxy, and SDKs with MinIO behind it',
  folders: ['clients/'],
});
