import { runAwsCli } from './aws-cli.ts';

/** Each of its many commands starts Python. */
export const timeout = 300_000;

runAwsCli('aws', 'all');
