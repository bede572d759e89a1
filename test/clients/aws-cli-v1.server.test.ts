import { runAwsCli } from './aws-cli.ts';

runAwsCli('awsV1');
