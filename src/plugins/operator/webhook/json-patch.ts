import { isDeepStrictEqual } from 'node:util';
import { createPatch, type Operation } from 'rfc6902';
import type { Pod } from '../../../core/kubernetes/pod.ts';

/** From one pod to the other, empty where they are equal (RFC 6902). */
export function patchBetween(before: Pod, after: Pod): Operation[] {
  return createPatch(before, after, wholeArrays);
}

/** A shortest edit of an array costs the square of its length; one that differs is replaced as a whole. */
function wholeArrays(before: unknown, after: unknown, at: { toString(): string }): Operation[] | undefined {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  return isDeepStrictEqual(before, after) ? [] : [{ op: 'replace', path: at.toString(), value: after }];
}
