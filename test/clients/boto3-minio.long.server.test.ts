import { runBoto3 } from './boto3.ts';

runBoto3('minio');
