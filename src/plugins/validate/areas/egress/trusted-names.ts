import type { NetworkPolicy } from '../../../../core/egress/contract.ts';
import { parseHosts } from '../../../../core/egress/hosts.ts';
import { hostsAnnotation } from '../../../../core/egress/names.ts';
import type { EgressOf } from '../../cluster/wanted-egress.ts';

const most = 5;

/**
 * What is taken on trust, as a sentence. DNS of a laptop may not know what pods connect to, and names turn: neither
 * speaks against a policy.
 */
export function onTrust(all: readonly EgressOf[]): string | undefined {
  const names = [...new Set(all.flatMap(trustedNames))].sort();
  if (names.length === 0) return undefined;
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  const listed = `${names.slice(0, most).join(', ')}${more}`;
  return `Addresses of ${listed} are those that the policies name, because they could not be resolved here.`;
}

/** Names of which policies know addresses that DNS does not give here. */
function trustedNames({ wanted, asNoted }: EgressOf): readonly string[] {
  return asNoted.flatMap((noted, index) => {
    const here = hostsOf(wanted[index]);
    return [...hostsOf(noted)]
      .filter(([host, addresses]) => !addresses.every((one) => here.get(host)?.includes(one)))
      .map(([host]) => host);
  });
}

const hostsOf = (policy: NetworkPolicy | undefined) =>
  parseHosts(policy?.metadata.annotations?.[hostsAnnotation] ?? '');
