import { hash } from 'node:crypto';

/** Gives equal values the same object. */
export type Intern = <T extends object>(value: T) => T;

/**
 * Pods of one workload are alike in nearly everything, so they share it. Values must not be changed afterwards.
 * What nobody else holds any more is forgotten.
 */
export function createIntern(): Intern {
  const known = new Map<string, WeakRef<object>>();
  const forget = new FinalizationRegistry<string>((digest) => {
    if (known.get(digest)?.deref() === undefined) known.delete(digest);
  });
  return <T extends object>(value: T): T => {
    const digest = hash('sha256', JSON.stringify(value), 'base64');
    const same = known.get(digest)?.deref();
    // equal texts are equal values, whatever the type is called
    if (same !== undefined) return same as T;
    known.set(digest, new WeakRef(value));
    forget.register(value, digest);
    return value;
  };
}
