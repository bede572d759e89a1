import type { Part } from './part.ts';
import { suitePart } from './s3-suite/suite-part.ts';

/** What the tests of a store's authors find at stores and do not find through the proxy. */
export const s3Suite: Part = suitePart(
  's3-suite',
  "versitygw's own integration suite, at bare stores and through the proxy",
);
