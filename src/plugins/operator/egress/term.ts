import { isDeepStrictEqual } from 'node:util';
import { type CiliumPolicy, ciliumPolicies } from '../../../cluster/egress/cilium-policies.ts';
import type { EgressFacts } from '../../../cluster/egress/contract.ts';
import { parseSights, type UnseenMinutes, unseenSince } from '../../../cluster/egress/hosts.ts';
import { apply, hasCode, type KubeClient, type KubeObject, unless } from '../../../cluster/kube/client.ts';
import { type ClusterAddresses, createClusterAddresses } from '../../../cluster/kube/cluster-addresses.ts';
import { isOperators, type OwnedMetadata } from '../../../cluster/kube/labels.ts';
import {
  createNameBook,
  createRecent,
  type NameAnswer,
  type NameResolver,
} from '../../../cluster/kube/name-book.ts';
import type { KnownPolicy } from '../../../cluster/kube/project-objects.ts';
import { defaultQueueTuning } from '../../../cluster/kube/work-queue.ts';

export interface EgressTuning {
  /** About how often names outside the cluster, Services and the API server are looked up. */
  readonly refreshMs: number;
  /** The same while a name has no address. */
  readonly unresolvedMs: number;
  /** How long a policy stays after the last protected pod of its namespace. */
  readonly graceMs: number;
  /**
   * For how long an address stays permitted after DNS last returned it. Names of large stores use hundreds of addresses
   * within hours: with ten minutes, half of the addresses that pods resolved were not permitted.
   */
  readonly keepMs: number;
  /** For how long an answer of DNS or the API server is reused. */
  readonly freshMs: number;
  /** For how long a reconciliation waits for name servers; the policy then has what is known. */
  readonly patienceMs: number;
  /** The same while others wait, and for a policy that does not exist yet: until then the pods may reach everything. */
  readonly littlePatienceMs: number;
  /** How soon a reconciliation that did not wait for all names is repeated. */
  readonly pendingMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** The time of day, in milliseconds since 1970. */
  readonly date: () => number;
}

export const defaultTuning: EgressTuning = {
  refreshMs: 60_000,
  unresolvedMs: 15_000,
  graceMs: 120_000,
  keepMs: 24 * 3_600_000,
  freshMs: 20_000,
  patienceMs: 3_000,
  littlePatienceMs: 250,
  pendingMs: 2_000,
  now: () => performance.now(),
  date: () => Date.now(),
};

/** What this replica knows while it leads. A new term starts from nothing, because the old state is stale. */
export interface EgressTerm {
  readonly addresses: ClusterAddresses;
  readonly cilium: CiliumKeeper;
  readonly states: Map<string, NamespaceState>;
  readonly unneeded: Unneeded;
  readonly waiting: Waiting;
  /** Takes over the addresses that a policy permits, so that a failure or change of DNS does not remove them. */
  adopt(policy: KnownPolicy): void;
  /** What policies of the namespace note of their names. */
  sightsIn(namespace: string): { readonly minute: number; readonly unseen: UnseenMinutes };
}

const minuteMs = 60_000;
/** A name counts once in each namespace. */
const mostNames = 10_000;
/** That several namespaces share; each may have 512 addresses. */
const maxAnswers = 256;

export function createTerm(
  client: KubeClient,
  resolver: NameResolver,
  tuning: EgressTuning,
  onApplied: CiliumKeeperOptions['onApplied'],
): EgressTerm {
  const { keepMs, freshMs, now, date, graceMs } = tuning;
  const minuteNow = () => Math.floor(date() / minuteMs);
  const answers = createRecent<NameAnswer>({ now, freshMs, max: maxAnswers });
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
    waiting: createWaiting(tuning),
    adopt({ ours, uid, namespace, hosts = '' }) {
      // only once: afterwards the term has newer addresses
      if (!ours || adopted.has(uid)) return;
      adopted.add(uid);
      // a user of that namespace may have written this policy, and must not affect other namespaces
      const sights = parseSights(hosts);
      const unseen = unseenSince(sights, minuteNow());
      for (const [host, addresses] of sights.hosts) {
        const known = [...addresses.keys()].map((each) => [each, unseen(host, each) * minuteMs] as const);
        names.remember(host, new Map(known), namespace);
      }
    },
    sightsIn: (namespace) => ({
      minute: minuteNow(),
      // rounded up, so that addresses are forgotten in the end, however often the leader changes
      unseen(host, address) {
        const unseenMs = names.unseenMs(host, address, namespace);
        return unseenMs <= freshMs ? 0 : Math.ceil(unseenMs / minuteMs);
      },
    }),
  };
}

/**
 * Namespaces whose name servers are waited for at a time. All others have workers left, however many namespaces name
 * silent servers.
 */
const maxWaiting = defaultQueueTuning.workers / 2;

interface Waiting {
  /** Runs work that may wait for name servers that long. */
  run<T>(isNew: boolean, work: (patienceMs: number) => Promise<T>): Promise<T>;
}

function createWaiting({ patienceMs, littlePatienceMs }: EgressTuning): Waiting {
  let count = 0;
  return {
    async run(isNew, work) {
      if (isNew || count >= maxWaiting) return work(littlePatienceMs);
      count += 1;
      return work(patienceMs).finally(() => {
        count -= 1;
      });
    },
  };
}

/** When policies were last needed. They are kept for a while, because pods may return. */
interface Unneeded {
  /** @returns how many more milliseconds to keep the policy; 0 when the time is over */
  remaining(key: string): number;
  /** Called when the policy is needed again, or was deleted. */
  forget(key: string): void;
}

function createUnneeded(graceMs: number, now: () => number): Unneeded {
  const since = new Map<string, number>();
  return {
    remaining(key) {
      const began = since.get(key) ?? now();
      since.set(key, began);
      return Math.max(0, began + graceMs - now());
    },
    forget: (key) => void since.delete(key),
  };
}

const group = '/apis/cilium.io/v2';
const plural = 'ciliumnetworkpolicies';

/**
 * Policies by name for Cilium, in addition to those by address. Cilium permits what either permits, so the addresses of
 * a name may change freely. If a cluster has only Cilium's definitions left, the policies by address still work.
 */
interface CiliumKeeper {
  /**
   * Creates or corrects the policies of a namespace.
   * @returns warnings
   * @throws KubeError
   */
  keep(facts: EgressFacts, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes a policy of the operator, if it exists. @throws KubeError */
  remove(namespace: string, name: string, signal: AbortSignal): Promise<void>;
}

interface CiliumKeeperOptions {
  readonly client: KubeClient;
  readonly now: () => number;
  /** For how long the list of available resources is reused. Default: 60 s. */
  readonly freshMs?: number;
  readonly onApplied: (policy: { readonly namespace: string; readonly name: string }) => void;
}

export function createCiliumKeeper(options: CiliumKeeperOptions): CiliumKeeper {
  const { client, now, freshMs = 60_000, onApplied } = options;
  const known = createRecent<boolean>({ now, freshMs, max: 1 });
  const isThere = (signal: AbortSignal) => known.get(group, () => hasCilium(client, signal));
  const ours = async (path: string, signal: AbortSignal) => {
    const found = await unless(client.request<CiliumObject>({ path, signal }), 'KUBE_NOT_FOUND');
    return { found, foreign: found !== undefined && !isOperators(found.metadata) };
  };
  return {
    async keep(facts, signal) {
      if (!(await isThere(signal))) return [];
      const denied = `Cilium runs, but the operator may not keep policies by name: ${plural}.cilium.io`;
      try {
        for (const policy of ciliumPolicies(facts).policies) {
          const path = pathOf(policy.metadata);
          const { found, foreign } = await ours(path, signal);
          if (foreign || says(found, policy)) continue;
          await apply(client, { path, object: policy, force: true, signal });
          onApplied(policy.metadata);
        }
        return [];
      } catch (error) {
        if (hasCode(error, 'KUBE_DENIED')) return [denied];
        throw error;
      }
    },
    async remove(namespace, name, signal) {
      if (!(await isThere(signal))) return;
      const path = pathOf({ namespace, name });
      const { found, foreign } = await ours(path, signal);
      if (found === undefined || foreign) return;
      const { uid, resourceVersion } = found.metadata;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      await unless(client.request({ method: 'DELETE', path, body, signal }), 'KUBE_NOT_FOUND');
    },
  };
}

function pathOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${group}/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;
}

interface CiliumObject extends KubeObject {
  readonly spec?: object;
  readonly metadata: KubeObject['metadata'] & OwnedMetadata;
}

async function hasCilium(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const list = client.request<{ readonly resources?: readonly { readonly name: string }[] }>({
    ...{ path: group, signal },
  });
  const found = await unless(list, 'KUBE_NOT_FOUND', 'KUBE_DENIED');
  return found?.resources?.some(({ name }) => name === plural) ?? false;
}

function says(found: CiliumObject | undefined, { spec }: CiliumPolicy): boolean {
  return found !== undefined && isDeepStrictEqual(found.spec, JSON.parse(JSON.stringify(spec)));
}

/** A namespace's egress at its last reconciliation. Names are sorted. */
export interface NamespaceState {
  /** The policy for the protected pods is as it should be. */
  readonly applied: boolean;
  /** Policies of others that have the names of the operator's own. */
  readonly foreign: readonly string[];
  /** Policies of others that let protected pods reach more. */
  readonly widening: readonly string[];
  readonly warnings: readonly string[];
  /** Secrets servers and stores without an address, for which nothing is permitted. */
  readonly unresolved: readonly string[];
}
