import { createHmac, randomBytes } from 'node:crypto';
import type { Access } from '../../../cluster/images/endpoint.ts';
import { type FoundBy, lookUp } from '../../../cluster/images/look-up.ts';
import { memoryOfCommand } from '../../../cluster/images/manifest.ts';
import { formatImageReference, type ImageReference } from '../../../cluster/images/reference.ts';
import {
  maxSocketsOfHost,
  RegistryError,
  type RegistryHttpClient,
} from '../../../cluster/images/registry-http-client.ts';
import type { ImageCommand } from '../../../cluster/injection/contract.ts';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { FairTurns, FairTurnsByKey } from './fair-turns.ts';
import { NamespaceCounts } from './namespace-counts.ts';

/** Some 5,000 images with usual commands. */
const maxMemory = 4 * 1024 * 1024;
/** Beside key and command. */
const bytesOfEntry = 200;
const longestMs = 24 * 3_600_000;
/** A tag may move to another image. */
const freshTagMs = 5 * 60_000;

/** Commands of images, cached under the credentials that found them. */
export interface CommandCache {
  /** An entry young enough to trust its tag. */
  fresh(wanted: WantedImage): ImageCommand | undefined;
  /** An entry of any age, for when the registry does not answer. */
  stale(wanted: WantedImage): ImageCommand | undefined;
  /** The command of a digest, found with the same access. */
  ofDigest(wanted: WantedImage, access: Access, digest: string): ImageCommand | undefined;
  keep(wanted: WantedImage, found: FoundBy): void;
}

/** An image that a pod may read by any of several registries and credentials. */
export interface WantedImage {
  readonly reference: ImageReference;
  readonly architecture: string | undefined;
  readonly accesses: readonly Access[];
}

/** @param now in ms, monotonic */
export function createCommandCache(now: () => number): CommandCache {
  const commands = new BoundedMap<string, ImageCommand>(maxMemory, {
    age: { mostMs: longestMs, now },
    costOf: (key, command) => bytesOfEntry + key.length + memoryOfCommand(command),
  });
  const find = ({ accesses, reference, architecture }: WantedImage, maxAgeMs: number) => {
    for (const access of accesses) {
      const found = commands.get(keyOf(access, reference, architecture), maxAgeMs);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    fresh: (wanted) => find(wanted, wanted.reference.digest === undefined ? freshTagMs : longestMs),
    stale: (wanted) => find(wanted, longestMs),
    ofDigest: ({ reference, architecture }, access, digest) =>
      commands.get(keyOf(access, { ...reference, digest }, architecture)),
    keep({ reference, architecture }, { access, digest, command }) {
      commands.set(keyOf(access, { ...reference, digest }, architecture), command);
      if (reference.digest === undefined) commands.set(keyOf(access, reference, architecture), command);
    },
  };
}

/** A digest makes the tag irrelevant. */
function keyOf(access: Access, reference: ImageReference, architecture: string | undefined): string {
  const tag = reference.digest === undefined ? reference.tag : undefined;
  return JSON.stringify([scopeOf(access), formatImageReference({ ...reference, tag }), architecture ?? '']);
}

const timeoutMs = 20_000;
/** With more lookups at once, the last ones would take longer than any review waits. */
const mostFlights = 256;
/** So that one namespace's slow registries do not keep the others waiting. */
const mostOfNamespace = 32;
/** That ask their registries at a time; each has one connection, and the client has twice as many. */
const mostAsking = 64;
const failedMs = 10_000;
const mostFailures = 2_000;

/** Lookups in progress, shared by all that wait for the same image, and recent failures. */
export interface SingleFlight {
  /** After a failure, fails at once for some seconds. @throws RegistryError */
  lookUp(key: string, wanted: WantedImage, namespace: string): Promise<ImageCommand>;
}

export interface SingleFlightOptions {
  readonly wire: RegistryHttpClient;
  readonly cache: CommandCache;
  readonly signal: AbortSignal;
  /** In ms, monotonic. */
  readonly now: () => number;
}

/** A lookup continues when nobody waits for it any more, so that the next one finds its result. */
export function createSingleFlight({ wire, cache, signal, now }: SingleFlightOptions): SingleFlight {
  const flying = new Map<string, Promise<ImageCommand>>();
  const places = new Places(mostFlights, mostOfNamespace);
  const turns = new FairTurns(mostAsking);
  // an image that a host delivers slowly, such as by a mirror of what its owner runs, keeps nobody else's waiting
  const turnsOfHosts = new FairTurnsByKey(maxSocketsOfHost);
  const failed = new BoundedMap<string, unknown>(mostFailures, { age: { mostMs: failedMs, now } });
  const fly = async (key: string, wanted: WantedImage, namespace: string, leave: () => void) => {
    const endOfHost = await turnsOfHosts.take(hostOf(wanted), namespace);
    const end = await turns.take(namespace);
    try {
      const known = (access: Parameters<CommandCache['ofDigest']>[1], digest: string) =>
        cache.ofDigest(wanted, access, digest);
      const { reference, accesses, architecture } = wanted;
      const found = await lookUp(reference, accesses, {
        client: wire,
        architecture,
        known,
        timeoutMs,
        signal,
      });
      cache.keep(wanted, found);
      return found.command;
    } catch (error) {
      if (!signal.aborted) failed.set(key, error);
      throw error;
    } finally {
      flying.delete(key);
      end();
      endOfHost();
      leave();
    }
  };
  return {
    async lookUp(key, wanted, namespace) {
      const failure = failed.get(key);
      if (failure !== undefined) throw failure;
      const under = flying.get(key);
      if (under !== undefined) return under;
      const entered = places.enter(namespace);
      if (typeof entered !== 'function') throw tooMany(entered);
      const flight = fly(key, wanted, namespace, entered);
      flight.catch(() => {});
      flying.set(key, flight);
      return flight;
    },
  };
}

/** Asked first; images of one registry have the same others, if any. */
const hostOf = ({ accesses }: WantedImage): string => accesses[0]?.endpoint.origin.host ?? '';

function tooMany(why: 'full' | 'full of its namespace'): RegistryError {
  const images = why === 'full' ? 'images' : 'images of its namespace';
  return new RegistryError('REGISTRY_UNAVAILABLE', `too many ${images} are being looked up`, { told: true });
}

/** Random for each process, so that passwords cannot be guessed from cache keys alone. */
const key = randomBytes(32);

/** Identifies registry and credentials: a result is given only to callers who could have obtained it themselves. */
export function scopeOf({ endpoint, credential }: Access): string {
  const { origin, name } = endpoint;
  const user = credential === undefined ? [] : [credential.username, credential.password];
  return hash([origin.href, name, ...user]);
}

/** A keyed digest of several texts, in order. */
export function hash(parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}

/** Places for reviews and lookups, shared by namespaces as `NamespaceCounts` says. */
export class Places {
  readonly #most: number;
  readonly #mostOfNamespace: number;
  readonly #taken = new NamespaceCounts();

  constructor(most: number, mostOfNamespace: number) {
    this.#most = most;
    this.#mostOfNamespace = mostOfNamespace;
  }

  /** @returns a function that gives the place back, or which bound is reached */
  enter(namespace: string): (() => void) | 'full' | 'full of its namespace' {
    if (this.#taken.sum >= this.#most) return 'full';
    if (this.#taken.of(namespace) >= this.#mostOfNamespace || !this.#taken.mayAdd(namespace, this.#most))
      return 'full of its namespace';
    this.#taken.add(namespace, 1);
    let left = false;
    return () => {
      if (!left) this.#taken.add(namespace, -1);
      left = true;
    };
  }
}
