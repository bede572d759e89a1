import { intoBucketSuite } from './into-bucket.ts';

intoBucketSuite('minio').run();
