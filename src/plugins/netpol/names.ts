import { createNameBook, type NameBook } from '../../runtime/kube/cluster-addresses-names.ts';
import { type NameResolver, systemResolver } from '../../runtime/kube/cluster-addresses-resolver.ts';

/**
 * Looks each name up once.
 * @param warn is told of names of which not every address may be known
 */
export function lookUpOnce(
  warn: (text: string) => void,
  resolver: NameResolver = systemResolver(),
): NameBook {
  return createNameBook({
    now: () => 0,
    async resolver(host, signal) {
      const answer = await resolver(host, signal);
      if (answer.failed)
        warn(`DNS did not answer all that it was asked of ${host}; addresses may be missing`);
      return answer;
    },
  });
}

/** For policies that keep names as they are. */
export const noLookUps: NameBook = { addressesOf: async () => [], remember: () => {} };
