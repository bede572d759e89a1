import type { Part } from './part.ts';
import { suitePart } from './s3-suite/suite-part.ts';

/** The same with the tests of a client's authors. */
export const minioGoSuite: Part = suitePart(
  'minio-go-suite',
  "functional tests of MinIO's client library, at bare stores and through the proxy",
);
