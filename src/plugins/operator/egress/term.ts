import { parseHosts } from '../../../core/egress/hosts.ts';
import type { KnownPolicy } from '../../../runtime/cluster/project-policy.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { type ClusterAddresses, createClusterAddresses } from '../../../runtime/kube/cluster-addresses.ts';
import { createNameBook } from '../../../runtime/kube/cluster-addresses-names.ts';
import type { NameAnswer, NameResolver } from '../../../runtime/kube/cluster-addresses-resolver.ts';
import { createRecent } from '../../../runtime/kube/recent.ts';
import { type CiliumKeeper, type CiliumKeeperOptions, createCiliumKeeper } from './keep-cilium-policies.ts';
import type { NamespaceState } from './namespace-state.ts';
import { createUnneeded, type Unneeded } from './unneeded.ts';

export interface EgressTuning {
  /** About how often names outside of the cluster, Services and the API server are looked up. */
  readonly refreshMs: number;
  /** The same while a name has no address at all. */
  readonly unresolvedMs: number;
  /** How long a policy stays after the last protected pod of its namespace. */
  readonly graceMs: number;
  /**
   * For so long an address stays allowed after its name has last pointed there. Names of large stores turn through
   * hundreds of addresses within hours: with ten minutes half of what pods were told was not allowed.
   */
  readonly keepMs: number;
  /** An answer of DNS or of the API server is not asked for again for so long. */
  readonly freshMs: number;
  /** Milliseconds from any moment on that never go back. */
  readonly now: () => number;
}

export const defaultTuning: EgressTuning = {
  refreshMs: 60_000,
  unresolvedMs: 15_000,
  graceMs: 120_000,
  keepMs: 24 * 3_600_000,
  freshMs: 20_000,
  now: () => performance.now(),
};

/** What is known for as long as this replica leads: what an earlier term knew has aged meanwhile. */
export interface EgressTerm {
  readonly addresses: ClusterAddresses;
  readonly cilium: CiliumKeeper;
  readonly states: Map<string, NamespaceState>;
  readonly unneeded: Unneeded;
  /** Takes over which addresses a policy allows, so that DNS that fails or turns now does not take them away. */
  adopt(policy: KnownPolicy): void;
}

/** Each counts once in each namespace. */
const mostNames = 10_000;

export function createTerm(
  client: KubeClient,
  resolver: NameResolver,
  tuning: EgressTuning,
  onApplied: CiliumKeeperOptions['onApplied'],
): EgressTerm {
  const { keepMs, freshMs, now, graceMs } = tuning;
  const answers = createRecent<NameAnswer>({ now, freshMs, maxKeys: mostNames });
  const names = createNameBook({
    resolver: (host, signal) => answers.get(host, () => resolver(host, signal)),
    ...{ now, keepMs, freshMs, maxNames: mostNames },
  });
  const adopted = new Set<string>();
  return {
    addresses: createClusterAddresses({ client, names, now, freshMs }),
    cilium: createCiliumKeeper({ client, now, onApplied }),
    states: new Map(),
    unneeded: createUnneeded(graceMs, now),
    adopt({ ours, uid, namespace, hosts = '' }) {
      // once: later on it is the term that knows better
      if (!ours || adopted.has(uid)) return;
      adopted.add(uid);
      // whoever may write policies there has written this one, perhaps, and has no say in other namespaces
      for (const [host, addresses] of parseHosts(hosts)) names.remember(host, addresses, namespace);
    },
  };
}
