import { runJsSdk } from './js-sdk/run.ts';

runJsSdk('minio');
