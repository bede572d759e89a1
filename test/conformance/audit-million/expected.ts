import type { Tally } from '../../../src/plugins/bulk/audit/tally.ts';
import { type Kind, kindOf, kinds } from './kinds.ts';

/** What an audit has to count of so many objects, in all but bytes, helper objects and the keys that it lists. */
export function expectedTally(objects: number) {
  const of = countsOf(objects);
  return {
    objects,
    encrypted: of.first + of.parts + of.second,
    plaintext: of.plain + of.foreign,
    unreadable: of.unreadable,
    vanished: 0,
    keyVersions: { 'svc v1': of.first + of.parts, 'svc v2': of.second },
    forms: { single: of.first + of.second, pointer: of.parts },
  } satisfies Partial<Tally>;
}

function countsOf(objects: number): Record<Kind, number> {
  const counts = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, 0])) as Record<Kind, number>;
  for (let index = 0; index < objects; index++) counts[kindOf(index)] += 1;
  return counts;
}
