import { Resolver } from 'node:dns/promises';
import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import { canonicalAddress } from '../egress/address.ts';

export interface NameBookOptions {
  readonly resolver: NameResolver;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** How long an address is kept after its name last resolved to it. Default: 10 minutes. */
  readonly keepMs?: number;
  /** How long an answer is reused. Default: 20 s. */
  readonly freshMs?: number;
  /** Maximum number of names; the least recently used is dropped. Default: 2,000. */
  readonly maxNames?: number;
}

/** Ends the waiting for name servers. */
export interface Patience {
  readonly isOver: boolean;
  /** Resolves when it is. */
  readonly over: Promise<void>;
}

/** Addresses of names outside the cluster, kept while DNS rotates or fails. */
export interface NameBook {
  /**
   * Sorted; empty if the name never had any. Rejects only with the signal's reason.
   * @param patience once it is over, what is known is returned, and an answer that comes later is for the next call.
   *   Default: waits for the answer
   */
  addressesOf(
    host: string,
    signal: AbortSignal,
    scope?: string,
    patience?: Patience,
  ): Promise<readonly string[]>;
  /** Whether the last call did not wait for an answer that was due. */
  isPending(host: string, scope?: string): boolean;
  /** Whether addresses of this scope's names were left out, because there are too many. */
  isFull(scope: string): boolean;
  /** Milliseconds since the name was last seen to point to the address; 0 if that is unknown. */
  unseenMs(host: string, address: string, scope?: string): number;
  /**
   * Restores earlier addresses, for this scope only; newer ones stay.
   * @param addresses with the milliseconds since the name was last seen to point there
   */
  remember(host: string, addresses: ReadonlyMap<string, number>, scope?: string): void;
}

interface Scope {
  addresses: number;
  isFull: boolean;
}

/** Names whose name servers are being asked. */
interface Questions {
  readonly ofScope: Map<string, number>;
  all: number;
}

interface Entry {
  readonly scope: string;
  /** By address, when the name last resolved to it, as far as known. */
  readonly seen: BoundedMap<string, number>;
  /** When name servers last failed to answer for addresses of each family. */
  readonly failedAt: Record<Family, number>;
  /** When to ask again. */
  dueAt: number;
  /** Grows while no name server answers. */
  pauseMs: number;
  asking: Promise<void> | undefined;
  isPending: boolean;
}

const never = Number.NEGATIVE_INFINITY;

type Family = 4 | 6;
const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);

/** Maximum per name; the oldest are dropped. */
const maxAddresses = 1024;
/**
 * Of all names of a scope: a policy with more would be larger than what the API server takes. Who owns the names may
 * have a name server answer with other addresses each time.
 */
const maxOfScope = 4_096;
/** Of all scopes: some 10 MiB. */
const maxOfAll = 65_536;
/** An address that its name no longer points to, as far as known, is kept so long at most, whatever fails. */
const maxFailedMs = 7 * 24 * 3_600_000;
/** A name has so many in any case. */
const minAddresses = 8;
/** Of names that no name server answers for; a new one waits so long after an outage, too. */
const maxPauseMs = 300_000;
/**
 * Names that are asked for beside those that somebody waits for: each has a socket or two. Beyond the second, a scope
 * may ask for one.
 */
const maxQuestionsOfScope = 16;
const maxQuestions = 256;

export function createNameBook(options: NameBookOptions): NameBook {
  const { resolver, now, keepMs = 600_000, freshMs = 20_000, maxNames = 2_000 } = options;
  const entries = new BoundedMap<string, Entry>(maxNames);
  const scopes = new Map<string, Scope>();
  const questions: Questions = { ofScope: new Map(), all: 0 };
  let all = 0;
  /** Addresses of names that were dropped, too, count until the next look. */
  const recount = () => {
    scopes.clear();
    all = 0;
    for (const [, { scope, seen }] of entries) count(scope, seen.size);
  };
  const count = (scope: string, change: number): Scope => {
    const known = scopes.get(scope) ?? { addresses: 0, isFull: false };
    scopes.set(scope, known);
    known.addresses += change;
    all += change;
    return known;
  };
  const add = ({ scope, seen }: Entry, address: string, at: number) => {
    const before = seen.size;
    const ofScope = count(scope, 0);
    const isKnown = seen.peek(address) !== undefined;
    if (!isKnown && before >= minAddresses && (ofScope.addresses >= maxOfScope || all >= maxOfAll)) {
      ofScope.isFull = true;
      const [oldest] = seen;
      if (oldest !== undefined) seen.delete(oldest[0]);
    }
    seen.set(address, at);
    count(scope, seen.size - before);
  };
  const entryOf = (host: string, scope: string): Entry => {
    const key = keyOf(host, scope);
    const known = entries.get(key);
    if (known !== undefined) return known;
    const seen = new BoundedMap<string, number>(maxAddresses);
    const entry: Entry = {
      ...{ scope, seen, dueAt: never, pauseMs: freshMs },
      ...{ asking: undefined, isPending: false, failedAt: { 4: never, 6: never } },
    };
    const isFull = entries.size === maxNames;
    entries.set(key, entry);
    if (isFull) recount();
    return entry;
  };
  const ask = async (host: string, entry: Entry, signal: AbortSignal) => {
    const { addresses, failed, failedFamily } = await resolver(host, signal);
    const at = now();
    const isSilent = failed && addresses.length === 0;
    entry.dueAt = at + (isSilent ? entry.pauseMs : freshMs);
    entry.pauseMs = isSilent ? Math.min(2 * entry.pauseMs, Math.max(freshMs, maxPauseMs)) : freshMs;
    entry.isPending = false;
    for (const family of failed ? ([4, 6] as const) : [])
      if (failedFamily === undefined || failedFamily === family) entry.failedAt[family] = at;
    for (const address of addresses) add(entry, canonicalAddress(address) ?? address, at);
    const before = entry.seen.size;
    for (const [address, last] of entry.seen) {
      // while DNS fails, nothing shows that a name has stopped resolving
      const hasFailed = at - entry.failedAt[familyOf(address)] < keepMs;
      if (at - last >= (hasFailed ? Math.max(keepMs, maxFailedMs) : keepMs)) entry.seen.delete(address);
    }
    const ofScope = count(entry.scope, entry.seen.size - before);
    if (ofScope.addresses < maxOfScope && all < maxOfAll) ofScope.isFull = false;
  };
  const begin = (host: string, entry: Entry, signal: AbortSignal) => {
    const { scope } = entry;
    countQuestion(questions, scope, 1);
    entry.asking = ask(host, entry, signal).finally(() => {
      entry.asking = undefined;
      countQuestion(questions, scope, -1);
    });
    // nobody may wait for it any more when the signal is aborted
    entry.asking.catch(() => {});
  };
  return {
    async addressesOf(host, signal, scope = '', patience) {
      const entry = entryOf(host, scope);
      if (entry.asking === undefined && now() >= entry.dueAt) {
        entry.isPending = true;
        if (patience === undefined || mayAsk(questions, scope, patience)) begin(host, entry, signal);
      }
      if (entry.asking !== undefined)
        await Promise.race([entry.asking, ...(patience ? [patience.over] : [])]);
      return addressesIn(entry).sort();
    },
    isPending: (host, scope = '') => entries.peek(keyOf(host, scope))?.isPending ?? false,
    remember(host, addresses, scope = '') {
      const entry = entryOf(host, scope);
      const oldestFirst = [...addresses].sort(([, one], [, other]) => other - one);
      for (const [address, unseenMs] of oldestFirst)
        if (entry.seen.peek(address) === undefined) add(entry, address, now() - unseenMs);
    },
    unseenMs(host, address, scope = '') {
      const last = entries.peek(keyOf(host, scope))?.seen.peek(address);
      return last === undefined ? 0 : now() - last;
    },
    isFull: (scope) => scopes.get(scope)?.isFull ?? false,
  };
}

const keyOf = (host: string, scope: string): string => `${scope} ${host}`;

function mayAsk({ ofScope, all }: Questions, scope: string, patience: Patience): boolean {
  const own = ofScope.get(scope) ?? 0;
  return !patience.isOver && own < (all < maxQuestions ? maxQuestionsOfScope : 1);
}

function countQuestion(questions: Questions, scope: string, change: 1 | -1): void {
  questions.all += change;
  const own = (questions.ofScope.get(scope) ?? 0) + change;
  if (own > 0) questions.ofScope.set(scope, own);
  else questions.ofScope.delete(scope);
}

const addressesIn = ({ seen }: Entry): string[] => [...seen].map(([address]) => address);

/** Current DNS answer for a name. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  /** Some name servers could not be asked, so there may be more addresses. */
  readonly failed: boolean;
  /** The only family of addresses for which that is so; undefined: both. */
  readonly failedFamily?: Family | undefined;
}

/** Resolves the addresses of a name, IPv4 and IPv6, at most 256 of each; rejects only with the signal's reason. */
export type NameResolver = (host: string, signal: AbortSignal) => Promise<NameAnswer>;

/** A message has room for 4,000, and the owner of a name that a pod names may fill it. */
const maxOfAnswer = 256;
const notThere: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Responds within about ten seconds, even if name servers do not.
 * @param servers `address:port`; default: this machine's
 */
export function systemResolver(servers?: readonly string[]): NameResolver {
  return async (host, signal) => {
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: 2_500, tries: 2, maxTimeout: 5_000 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.removeEventListener('abort', cancel);
    signal.throwIfAborted();
    const [fails4, fails6] = answers.map(
      (answer) => answer.status === 'rejected' && !notThere.has(answer.reason?.code),
    );
    return {
      addresses: answers.flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value.slice(0, maxOfAnswer) : [],
      ),
      failed: fails4 === true || fails6 === true,
      ...(fails4 !== fails6 && { failedFamily: fails4 ? 4 : 6 }),
    };
  };
}

export interface RecentOptions<T> {
  readonly now: () => number;
  readonly freshMs: number;
  /** Maximum number of entries, or their total cost; the least recently used is dropped. */
  readonly max: number;
  readonly costOf?: (value: T) => number;
}

/** Caches answers for some time; failures are not cached. */
export interface Recent<T> {
  get(key: string, load: () => Promise<T>): Promise<T>;
}

export function createRecent<T>({ now, freshMs, max, costOf = () => 1 }: RecentOptions<T>): Recent<T> {
  const known = new BoundedMap<string, { readonly value: T }>(max, {
    age: { mostMs: freshMs, now },
    costOf: (_key, { value }) => costOf(value),
  });
  return {
    async get(key, load) {
      const entry = known.get(key);
      if (entry !== undefined) return entry.value;
      const at = now();
      const value = await load();
      known.set(key, { value }, at);
      return value;
    },
  };
}
