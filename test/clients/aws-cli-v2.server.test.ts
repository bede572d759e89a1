import { runAwsCli } from './aws-cli.ts';

runAwsCli('aws', 'common');
