import { timeoutOfFile, viewSuite } from './support/guest-suites.ts';

export const timeout = timeoutOfFile;

viewSuite(2);
