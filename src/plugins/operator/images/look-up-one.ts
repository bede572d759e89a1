import { exitStatus, SvcError } from '../../../core/errors.ts';
import { ImageError } from '../../../core/image/image-error.ts';
import {
  formatImageReference,
  type ImageReference,
  parseImageReference,
} from '../../../core/image/reference.ts';
import type { RegistryCredential } from '../../../core/image/registry-credential.ts';
import type { ImageCommand } from '../../../core/injection/contract.ts';
import { isLoopback } from '../../../core/settings/listen-address.ts';
import { within } from '../../../runtime/lifecycle/within.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { accessesTo } from '../../../runtime/registry/access.ts';
import { hasCode, RegistryError } from '../../../runtime/registry/errors.ts';
import type { Mirrors } from '../../../runtime/registry/mirrors.ts';
import type { CommandCache, Wanted } from './command-cache.ts';
import type { Flights } from './flights.ts';
import type { LookupOutcome } from './image-metrics.ts';
import { hash, scopeOf } from './scope.ts';

export interface LookUpDeps {
  readonly mirrors: Mirrors;
  readonly cache: CommandCache;
  readonly flights: Flights;
  readonly log: Logger;
  readonly count: (outcome: LookupOutcome) => void;
  /** Whether this machine may have a registry. In a pod it is the pod itself, and the one that is meant is the node's. */
  readonly local: boolean;
}

export interface OneImage {
  /** Of the pod. */
  readonly namespace: string;
  /** As the pod writes it. */
  readonly image: string;
  /** Of the node that the pod must get; undefined: any. */
  readonly architecture: string | undefined;
  readonly credentials: readonly RegistryCredential[];
}

export interface Limits {
  /** Of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Whether the review may wait for registries. */
  mayWait(): boolean;
}

/**
 * Looks one image up, in memory first; what is too old serves where the registry does not answer.
 * @throws SvcError; the signal's reason when aborted
 */
export async function lookUpOne(one: OneImage, limits: Limits, deps: LookUpDeps): Promise<ImageCommand> {
  const { cache, flights, count } = deps;
  const wanted = wantedOf(one, deps);
  const kept = cache.fresh(wanted);
  if (kept !== undefined) {
    count('kept');
    return kept;
  }
  try {
    // one that nobody waits for goes on all the same, so that the next review finds it
    const flight = flights.lookUp(keyOf(wanted), wanted, one.namespace);
    const found = limits.mayWait()
      ? await within(flight, limits.deadline, limits.signal, () => doesNotAnswer(wanted.reference))
      : await within(flight, 0, limits.signal, tooManyWait);
    count('found');
    return found;
  } catch (error) {
    limits.signal?.throwIfAborted();
    return staleInstead(wanted, error, deps);
  }
}

function staleInstead(wanted: Wanted, error: unknown, { cache, count, log }: LookUpDeps): ImageCommand {
  const stale = hasCode(error, 'REGISTRY_UNAVAILABLE') ? cache.stale(wanted) : undefined;
  count(stale === undefined ? 'failed' : 'stale');
  const fields = {
    image: formatImageReference(wanted.reference),
    error: error instanceof Error ? error.message : 'unknown',
  };
  if (stale === undefined) {
    log.warn('image.lookup_failed', fields);
    throw error;
  }
  log.warn('image.stale', fields);
  return stale;
}

function wantedOf({ image, architecture, credentials }: OneImage, { mirrors, local }: LookUpDeps): Wanted {
  const reference = referenceOf(image);
  const accesses = accessesTo(reference, mirrors, credentials).filter(
    ({ endpoint: { origin, mirrorOf } }) => local || mirrorOf !== undefined || !isLoopback(origin.hostname),
  );
  if (accesses.length > 0) return { reference, architecture, accesses };
  throw new RegistryError('REGISTRY_REFUSED', `${reference.registry} is the node itself, out of reach here`, {
    told: true,
  });
}

function referenceOf(image: string): ImageReference {
  try {
    return parseImageReference(image);
  } catch (cause) {
    if (!(cause instanceof ImageError)) throw cause;
    throw new SvcError('IMAGE_REFERENCE', cause.message, {
      nextStep: 'Write the image as <registry>/<repository>:<tag> or @<digest>.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}

/** Others who ask the same as the same users share the look-up, and nobody else. */
function keyOf({ reference, architecture, accesses }: Wanted): string {
  return hash([formatImageReference(reference), architecture ?? '', ...accesses.map(scopeOf)]);
}

function tooManyWait(): RegistryError {
  return new RegistryError(
    'REGISTRY_UNAVAILABLE',
    'as many reviews as may wait for registries do so already',
    {
      nextStep: 'Create the pod again in a few seconds: its images are being looked up.',
      told: true,
    },
  );
}

function doesNotAnswer({ registry }: ImageReference): RegistryError {
  return new RegistryError('REGISTRY_UNAVAILABLE', `${registry} does not answer in time`);
}
