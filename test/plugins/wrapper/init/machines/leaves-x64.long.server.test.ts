import { declareOn, timeoutOfFile } from './declare.ts';

export const timeout = timeoutOfFile;

declareOn('linux-6.1');
