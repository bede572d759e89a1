import { intoBucketSuite } from './into-bucket.ts';

intoBucketSuite('versitygw').run();
