import type { ImageReference } from '../../core/image/reference.ts';
import type { ImageCommand } from '../../core/injection/contract.ts';
import type { Access } from './access.ts';
import type { Endpoint } from './endpoint.ts';
import { hasCode, RegistryError } from './errors.ts';
import { type FoundImage, readImage } from './read-image.ts';
import { openSession } from './session.ts';
import type { Wire } from './wire.ts';

export interface LookUpOptions {
  readonly wire: Wire;
  /** Of the node that the pod must get; undefined: any. */
  readonly architecture: string | undefined;
  /** What is known of a digest by this way already. */
  known(access: Access, digest: string): ImageCommand | undefined;
  /** In all; each place gets its share of what is left. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** An image, and by which way it was found. */
export interface FoundBy extends FoundImage {
  readonly access: Access;
}

/**
 * Looks an image up by one way after the other.
 * @param accesses in the order to try, those of one place together; at least one
 * @throws RegistryError of the last place; the signal's reason when aborted
 */
export async function lookUp(
  reference: ImageReference,
  accesses: readonly Access[],
  options: LookUpOptions,
): Promise<FoundBy> {
  const end = performance.now() + options.timeoutMs;
  const places = placesOf(accesses);
  let failure: unknown;
  for (const [index, [endpoint, ways]] of places.entries()) {
    const share = (end - performance.now()) / (places.length - index);
    try {
      return await within(share, endpoint, options.signal, (signal) =>
        atPlace(reference, ways, { ...options, signal }),
      );
    } catch (error) {
      options.signal.throwIfAborted();
      failure = error;
    }
  }
  throw failure;
}

function placesOf(accesses: readonly Access[]): (readonly [Endpoint, Access[]])[] {
  const places = new Map<Endpoint, Access[]>();
  for (const access of accesses) {
    const ways = places.get(access.endpoint);
    if (ways === undefined) places.set(access.endpoint, [access]);
    else ways.push(access);
  }
  return [...places];
}

/** Some registries hide what a user may not read, so that a missing image is looked for as another user, too. */
async function atPlace(
  reference: ImageReference,
  ways: readonly Access[],
  options: LookUpOptions,
): Promise<FoundBy> {
  const failures: RegistryError[] = [];
  for (const access of ways) {
    try {
      return await bySession(reference, access, options);
    } catch (error) {
      if (!hasCode(error, 'REGISTRY_DENIED', 'REGISTRY_MISSING')) throw error;
      failures.push(error);
    }
  }
  throw failures.find((failure) => failure.code === 'REGISTRY_MISSING') ?? failures.at(0);
}

async function bySession(
  reference: ImageReference,
  access: Access,
  { wire, signal, architecture, known }: LookUpOptions,
): Promise<FoundBy> {
  const session = openSession({ wire, signal, ...access });
  try {
    const found = await readImage(session, reference, {
      architecture,
      known: (digest) => known(access, digest),
    });
    return { ...found, access };
  } finally {
    session.close();
  }
}

async function within<T>(
  timeoutMs: number,
  { origin }: Endpoint,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const message = `${origin.host} does not answer in time`;
  const abort = () => late.abort(new RegistryError('REGISTRY_UNAVAILABLE', message));
  const timer = setTimeout(abort, Math.max(0, timeoutMs));
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
