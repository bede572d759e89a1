import { accessesTo, type Mirrors } from '../../../cluster/images/endpoint.ts';
import {
  formatImageReference,
  ImageError,
  type ImageReference,
  parseImageReference,
} from '../../../cluster/images/reference.ts';
import type { RegistryCredential } from '../../../cluster/images/registry-credentials.ts';
import { hasCode, RegistryError } from '../../../cluster/images/registry-http-client.ts';
import type { ImageCommand } from '../../../cluster/injection/contract.ts';
import { cut, cutMessages, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { within } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { isLoopback } from '../../../runtime/settings/setting.ts';
import { type CommandCache, hash, type SingleFlight, scopeOf, type WantedImage } from './lookup-cache.ts';

export interface LookUpDeps {
  readonly mirrors: Mirrors;
  readonly cache: CommandCache;
  readonly flights: SingleFlight;
  readonly log: Logger;
  readonly count: (outcome: LookupOutcome) => void;
  /**
   * Whether registries on loopback are permitted. Not in a pod: there loopback is the pod itself, but the image's
   * registry is on the node.
   */
  readonly local: boolean;
}

export interface OneImage {
  /** Of the pod. */
  readonly namespace: string;
  /** As the pod writes it. */
  readonly image: string;
  /** Of the node that the pod requires; undefined: any. */
  readonly architecture: string | undefined;
  readonly credentials: readonly RegistryCredential[];
}

export interface LookupLimits {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Whether the review may wait for registries; takes a place if it may. */
  mayWait(): boolean;
}

/**
 * Looks up one image, first in the cache; falls back to a stale entry if the registry does not answer.
 * @throws SvcError; the signal's reason when aborted
 */
export async function lookUpOne(
  one: OneImage,
  limits: LookupLimits,
  deps: LookUpDeps,
): Promise<ImageCommand> {
  const { cache, flights, count } = deps;
  const wanted = wantedOf(one, deps);
  const kept = cache.fresh(wanted);
  if (kept !== undefined) {
    count('kept');
    return kept;
  }
  try {
    // a lookup that nobody waits for continues, so that the next review finds its result
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

function staleInstead(wanted: WantedImage, error: unknown, { cache, count, log }: LookUpDeps): ImageCommand {
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

function wantedOf(
  { image, architecture, credentials }: OneImage,
  { mirrors, local }: LookUpDeps,
): WantedImage {
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

/** Only equal requests with the same credentials share a lookup. */
function keyOf({ reference, architecture, accesses }: WantedImage): string {
  return hash([formatImageReference(reference), architecture ?? '', ...accesses.map(scopeOf)]);
}

function tooManyWait(): RegistryError {
  return new RegistryError('REGISTRY_UNAVAILABLE', 'too many reviews are waiting for registries', {
    nextStep: 'Create the pod again in a few seconds: its images are being looked up.',
    told: true,
  });
}

function doesNotAnswer({ registry }: ImageReference): RegistryError {
  return new RegistryError('REGISTRY_UNAVAILABLE', `${registry} does not answer in time`);
}

/** `kept`: from the cache; `found`: by a registry; `stale`: from the cache, because the registry does not answer. */
type LookupOutcome = 'kept' | 'found' | 'stale' | 'failed';

/** Counts the results of image lookups. */
export function createLookupCounter(metrics: Metrics): (outcome: LookupOutcome) => void {
  const counter = metrics.counter('svc_image_lookups_total', 'Image lookups, by outcome', ['outcome']);
  return (outcome) => counter.inc({ outcome });
}

/** Why one image could not be looked up. */
export interface LookupFailure {
  /** As the pod writes it. */
  readonly image: string;
  readonly error: unknown;
  /** With the pull secrets, each as a clause. */
  readonly problems: readonly string[];
  /** What the lookup was for. */
  readonly wanted: 'command' | 'user';
}

/** Lists every image that could not be looked up, with reason and next step, one a line. */
export class ImageLookupError extends SvcError {
  constructor(failures: readonly LookupFailure[]) {
    const wanted = new Set(failures.map((failure) => failure.wanted));
    super('IMAGE_LOOKUP', 'What these images run could not be looked up:', {
      details: cutMessages(messagesOn(failures, detail)),
      nextStep: [
        ...(wanted.has('command') ? [sayCommand] : []),
        ...(wanted.has('user') ? [sayUser] : []),
      ].join(' '),
      exitStatus: exitStatus.unavailable,
      cause: failures[0]?.error,
    });
  }
}

const sayCommand =
  'Or set command or the annotation svc/command in the pod: then its command is not looked up.';
const sayUser =
  'Or set runAsUser in the pod, which decides whether its memory can be locked: then its user is not looked up.';

function detail({ image, error, problems }: LookupFailure): string {
  const also = problems.map((problem) => `; ${problem}`).join('');
  const { message, nextStep } = told(error);
  return `${shown(image)}: ${message}${also}. ${nextStep}`;
}

/**
 * Anyone who may create pods can name any host and port as a registry. The result of the connection is not shown,
 * because it would reveal which ports the operator can reach.
 */
function told(error: unknown): Pick<SvcError, 'message' | 'nextStep'> {
  if (error instanceof RegistryError) return error.told ? error : unreachable;
  return error instanceof SvcError ? error : unexpected;
}

const unreachable = {
  message: 'its registry did not say',
  nextStep:
    "Check its name and its credentials, and that the operator reaches it over HTTPS with a certificate of an authority that it knows (operator.registryCA); the operator's log has the reason (image.lookup_failed).",
};

/** Details of our own errors are not shown here; the cause is in the log. */
const unexpected = {
  message: 'the lookup failed',
  nextStep: 'Read the log of the operator.',
};

/** A reference may be arbitrary text. */
function shown(image: string): string {
  const plain = image.replace(/[^\x21-\x7e]/g, '?');
  return plain === '' ? '""' : cut(plain, 300);
}
