/** `asker.ts`: says for each line of its input whether it is covered, and what its limit on file locks is then. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isCovered } from '../../../../../src/runtime/native/own-process.ts';

const limit = () => /^Max file locks +(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
for await (const _ of createInterface({ input: process.stdin }))
  console.log(JSON.stringify({ covered: isCovered(), limit: limit() }));
