import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Mirrors, parseMirrors } from '../../../cluster/images/endpoint.ts';
import { memoryOfCommand } from '../../../cluster/images/manifest.ts';
import { ImageError } from '../../../cluster/images/reference.ts';
import { readDockerConfigJson } from '../../../cluster/images/registry-credentials.ts';
import {
  createRegistryHttpClient,
  hasCode,
  placeOf,
  RegistryError,
} from '../../../cluster/images/registry-http-client.ts';
import type { ImageCommand } from '../../../cluster/injection/contract.ts';
import type { KubeClient } from '../../../cluster/kube/client.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { untilAborted, within } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import {
  createLookupCounter,
  ImageLookupError,
  type LookUpDeps,
  type LookupLimits,
  lookUpOne,
  type OneImage,
} from './look-up-one.ts';
import { createCommandCache, createSingleFlight, Places } from './lookup-cache.ts';
import { createPullSecrets, type PullCredentials, type SecretsAge } from './pull-secrets.ts';

export interface ImageCommandsDeps {
  readonly client: KubeClient;
  /** `<registry>=<URL>` items. */
  readonly mirrors: readonly string[];
  /** PEM bundle of private authorities of registries. */
  readonly authorities?: string | undefined;
  /** Path of a Docker configuration with credentials of the operator's own. */
  readonly credentialsPath?: string | undefined;
  /** Whether registries on loopback are permitted; not in a pod, where loopback is the operator itself. */
  readonly local: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** How many reviews may wait for registries at a time; default: unlimited. */
  readonly mostWaiting?: number;
  /** Aborted when the operator must end. */
  readonly signal: AbortSignal;
  /** In ms, monotonic; default: `performance.now()`. */
  readonly now?: () => number;
}

/** @throws SvcError (exit 78) if the mirrors cannot be parsed */
export function createImageCommands(deps: ImageCommandsDeps): ImageCommands {
  const { client, signal, metrics, log, local, now = () => performance.now() } = deps;
  const mirrors = parseMirrors(deps.mirrors);
  const wire = createRegistryHttpClient({ authorities: deps.authorities, local, trusted: placesOf(mirrors) });
  const waits = createLookupWaits(deps.mostWaiting ?? Number.MAX_SAFE_INTEGER);
  void untilAborted(signal).then(() => wire.close());
  const cache = createCommandCache(now);
  const pullSecrets = createPullSecrets({ client, signal, now });
  // the pod's credentials come first: if they suffice, no others are used
  const allOf = async (pod: Pod, namespace: string, age: SecretsAge): Promise<PullCredentials> =>
    joined(await pullSecrets.of(pod, namespace, age), await ownCredentials(deps.credentialsPath));
  const flights = createSingleFlight({ wire, cache, signal, now });
  const lookUp = { mirrors, cache, flights, log, local, count: createLookupCounter(metrics) };
  return {
    async commandsOf(pod, namespace, images, { timeoutMs, signal: ended, dispensable }) {
      let leave: (() => void) | undefined;
      const mayWait = () => {
        if (leave !== undefined) return true;
        const entered = waits.enter(namespace);
        if (typeof entered === 'function') leave = entered;
        return leave !== undefined;
      };
      const limits = { deadline: performance.now() + timeoutMs, signal: ended, mayWait };
      const pullBy = (age: SecretsAge) =>
        within(allOf(pod, namespace, age), limits.deadline, ended, secretsLate);
      const architecture = pod.spec.nodeSelector?.['kubernetes.io/arch'];
      const lookUpBy = async ({ credentials }: PullCredentials) => {
        const found = await lookUpAll({ images, architecture, credentials, namespace }, limits, lookUp);
        for (const each of [ended, signal]) each?.throwIfAborted();
        return found;
      };
      try {
        const pull = await pullBy('kept');
        const found = await lookUpBy(pull);
        if (!found.failures.some(isDenied)) return commandsOrFailure(found, pull, dispensable);
        // a pull secret corrected since it was cached takes effect at once
        const anew = await pullBy('anew');
        const again = isDeepStrictEqual(anew, pull) ? found : await lookUpBy(anew);
        return commandsOrFailure(again, anew, dispensable);
      } finally {
        leave?.();
      }
    },
  };
}

/** Trusted, because the operator's administrator named them. */
function placesOf(mirrors: Mirrors): ReadonlySet<string> {
  return new Set([...mirrors.values()].flat().map(placeOf));
}

function joined(one: PullCredentials, other: PullCredentials): PullCredentials {
  return {
    credentials: [...one.credentials, ...other.credentials],
    problems: [...one.problems, ...other.problems],
  };
}

/** A slow or unreachable registry must not weaken a pod. */
function commandsOrFailure(
  { commands, failures }: FoundImages,
  { problems }: PullCredentials,
  dispensable: ReadonlySet<string> = new Set(),
) {
  const lasting = failures.filter(
    ({ image, error }) => !dispensable.has(image) || hasCode(error, 'REGISTRY_UNAVAILABLE'),
  );
  if (lasting.length === 0) return commands;
  const failed = lasting.map(({ image, error }) => {
    return { image, error, problems, wanted: dispensable.has(image) ? 'user' : 'command' } as const;
  });
  throw new ImageLookupError(failed);
}

/** Other credentials might succeed. */
function isDenied({ error }: Failure): boolean {
  return hasCode(error, 'REGISTRY_DENIED', 'REGISTRY_MISSING');
}

function secretsLate(): SvcError {
  return new SvcError('PULL_SECRETS', 'The pull secrets of the pod could not be read in time', {
    nextStep: 'Check that the operator can reach the API server, and try again.',
    exitStatus: exitStatus.unavailable,
  });
}

const none: PullCredentials = { credentials: [], problems: [] };
const largest = 1024 * 1024;

/**
 * The operator's own credentials, for registries that a pod's secrets do not open, like a node's own. Read for each
 * lookup, because the file may have been renewed.
 * @param path of a Docker configuration as in pull secrets; undefined if there is none
 */
async function ownCredentials(path: string | undefined): Promise<PullCredentials> {
  if (path === undefined) return none;
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > largest) throw new ImageError('it is too long');
    return { credentials: readDockerConfigJson(text), problems: [] };
  } catch (error) {
    const why = error instanceof ImageError ? error.message : (error as NodeJS.ErrnoException).code;
    return { credentials: [], problems: [`the operator's own credentials cannot be used: ${why}`] };
  }
}

/**
 * A silent registry delays each review of its images up to the review's timeout. To keep answering others, only a
 * limited number of reviews may wait, and half as many at most for each namespace.
 */
const createLookupWaits = (most: number): Places => new Places(most, Math.ceil(most / 2));

export interface AllImages extends Omit<OneImage, 'image'> {
  readonly images: readonly string[];
}

interface FoundImages {
  readonly commands: ReadonlyMap<string, ImageCommand>;
  readonly failures: readonly Failure[];
}

interface Failure {
  readonly image: string;
  readonly error: unknown;
}

/** Bytes of the commands of a pod's images: a review holds them until the last registry answers. */
const maxCommands = 256 * 1024;

function tooLarge(): RegistryError {
  const message = 'the commands of the images of this pod are too long together';
  return new RegistryError('REGISTRY_REFUSED', message, { told: true });
}

/** Looks up each image once, concurrently. Never rejects. */
async function lookUpAll(
  { images, ...common }: AllImages,
  limits: LookupLimits,
  deps: LookUpDeps,
): Promise<FoundImages> {
  const commands = new Map<string, ImageCommand>();
  const failures: Failure[] = [];
  let memory = 0;
  const settle = async (image: string) => {
    try {
      const command = await lookUpOne({ ...common, image }, limits, deps);
      memory += memoryOfCommand(command);
      if (memory > maxCommands) throw tooLarge();
      commands.set(image, command);
    } catch (error) {
      failures.push({ image, error });
    }
  };
  await Promise.all([...new Set(images)].map(settle));
  // in the order of the pod, not of the registries' answers
  failures.sort((a, b) => images.indexOf(a.image) - images.indexOf(b.image));
  return { commands, failures };
}

/** Commands and users of images, from their registries. */
export interface ImageCommands {
  /**
   * The command and user of each image on the nodes that the pod may be scheduled to, looked up with its pull secrets.
   * @param namespace of the pod
   * @param images as the pod writes them; a dispensable one is left out if its registry answers without its user
   * @throws ImageLookupError with every image that could not be looked up, and why; the signal's reason when aborted
   */
  commandsOf(
    pod: Pod,
    namespace: string,
    images: readonly string[],
    options: LookupOptions,
  ): Promise<ReadonlyMap<string, ImageCommand>>;
}

export interface LookupOptions {
  /** For all images together; lookups that take longer continue, so that the next request finds their result. */
  readonly timeoutMs: number;
  /** Images of which only the user is needed. */
  readonly dispensable?: ReadonlySet<string> | undefined;
  readonly signal?: AbortSignal | undefined;
}
