import { dumpsSuite, timeoutOfFile } from './support/guest-suites.ts';

export const timeout = timeoutOfFile;

dumpsSuite(2);
