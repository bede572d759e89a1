import type { ImageCommand } from '../../../core/injection/contract.ts';
import { RegistryError } from '../../../runtime/registry/errors.ts';
import { lookUp } from '../../../runtime/registry/look-up.ts';
import type { Wire } from '../../../runtime/registry/wire.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { CommandCache, Wanted } from './command-cache.ts';

const timeoutMs = 20_000;
/** More at once would wait for longer than anybody waits for them. */
const mostFlights = 256;
/** So that the slow registries of one namespace do not keep all others waiting. */
const mostOfNamespace = 32;
const failedMs = 10_000;
const mostFailures = 2_000;

/** Look-ups under way, one for each image however many wait for it, and those that have just failed. */
export interface Flights {
  /** Fails at once for some seconds after it has failed. @throws RegistryError */
  lookUp(key: string, wanted: Wanted, namespace: string): Promise<ImageCommand>;
}

export interface FlightsOptions {
  readonly wire: Wire;
  readonly cache: CommandCache;
  readonly signal: AbortSignal;
  /** In ms, of a clock that only goes forward. */
  readonly now: () => number;
}

/** A look-up that nobody waits for any more goes on, so that the next one finds what it brings. */
export function createFlights({ wire, cache, signal, now }: FlightsOptions): Flights {
  const flying = new Map<string, Promise<ImageCommand>>();
  const ofNamespace = new Map<string, number>();
  const count = (namespace: string, by: 1 | -1) => {
    const now = (ofNamespace.get(namespace) ?? 0) + by;
    if (now === 0) ofNamespace.delete(namespace);
    else ofNamespace.set(namespace, now);
  };
  const failed = new BoundedMap<unknown>(mostFailures, failedMs, now);
  const fly = async (key: string, wanted: Wanted, namespace: string) => {
    count(namespace, 1);
    try {
      const known = (access: Parameters<CommandCache['ofDigest']>[1], digest: string) =>
        cache.ofDigest(wanted, access, digest);
      const { reference, accesses, architecture } = wanted;
      const found = await lookUp(reference, accesses, { wire, architecture, known, timeoutMs, signal });
      cache.keep(wanted, found);
      return found.command;
    } catch (error) {
      if (!signal.aborted) failed.set(key, error);
      throw error;
    } finally {
      flying.delete(key);
      count(namespace, -1);
    }
  };
  return {
    async lookUp(key, wanted, namespace) {
      const failure = failed.get(key);
      if (failure !== undefined) throw failure;
      const under = flying.get(key);
      if (under !== undefined) return under;
      if (flying.size >= mostFlights)
        throw new RegistryError('REGISTRY_UNAVAILABLE', 'too many images are being looked up', {
          told: true,
        });
      if ((ofNamespace.get(namespace) ?? 0) >= mostOfNamespace)
        throw new RegistryError(
          'REGISTRY_UNAVAILABLE',
          'too many images of its namespace are being looked up',
          { told: true },
        );
      const flight = fly(key, wanted, namespace);
      flight.catch(() => {});
      flying.set(key, flight);
      return flight;
    },
  };
}
