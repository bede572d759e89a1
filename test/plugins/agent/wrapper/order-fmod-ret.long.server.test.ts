import { orderSuite, timeoutOfFile } from './support/guest-suites.ts';

export const timeout = timeoutOfFile;

orderSuite(2);
