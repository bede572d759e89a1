import { isDeepStrictEqual } from 'node:util';
import { carriesWrapper, isOver, isProtected } from '../../../core/cluster/protected.ts';
import type { KnownPod } from '../cluster/contract.ts';

/** Whether a change of a pod can make another count of a selector's pods; most changes are of its status alone. */
export function countsDiffer(pod: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  if (gone || before === undefined) return true;
  return (
    isOver(pod.pod) !== isOver(before.pod) ||
    carriesWrapper(pod.pod) !== carriesWrapper(before.pod) ||
    !isDeepStrictEqual(pod.pod.metadata.labels, before.pod.metadata.labels)
  );
}

/** Whether its namespace has a protected pod more, or one less. */
export function protectionDiffers({ pod }: KnownPod, before: KnownPod | undefined, gone: boolean): boolean {
  const was = before !== undefined && isProtected(before.pod);
  return was !== (!gone && isProtected(pod));
}

/** Names in the annotation `svc/secret-mapping`. */
export function mappingNames({ pod }: KnownPod): readonly string[] {
  const text = pod.metadata.annotations?.['svc/secret-mapping'] ?? '';
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
