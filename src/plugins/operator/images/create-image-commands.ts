import { isDeepStrictEqual } from 'node:util';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { untilAborted } from '../../../runtime/lifecycle/until-aborted.ts';
import { within } from '../../../runtime/lifecycle/within.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { hasCode } from '../../../runtime/registry/errors.ts';
import { parseMirrors } from '../../../runtime/registry/mirrors.ts';
import { createWire } from '../../../runtime/registry/wire.ts';
import { createCommandCache } from './command-cache.ts';
import type { ImageCommands } from './contract.ts';
import { createFlights } from './flights.ts';
import { createLookupCounter } from './image-metrics.ts';
import { type Failure, type FoundImages, lookUpAll } from './look-up-all.ts';
import { ImageLookupError } from './lookup-error.ts';
import { ownCredentials } from './own-credentials.ts';
import { createPullSecrets, type PullCredentials, type SecretsAge } from './pull-secrets.ts';

export interface ImageCommandsDeps {
  readonly client: KubeClient;
  /** `<registry>=<URL>` items. */
  readonly mirrors: readonly string[];
  /** PEM: private authorities of registries. */
  readonly authorities?: string | undefined;
  /** Path of a Docker configuration with credentials of the operator's own. */
  readonly credentialsPath?: string | undefined;
  /** Whether this machine may have a registry: not in a pod, whose ports are those of the operator itself. */
  readonly local: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Aborted when the operator is to end. */
  readonly signal: AbortSignal;
  /** In ms, of a clock that only goes forward; default: the machine's. */
  readonly now?: () => number;
}

/** @throws SvcError (exit 78) when the mirrors cannot be read */
export function createImageCommands(deps: ImageCommandsDeps): ImageCommands {
  const { client, signal, metrics, log, local, now = () => performance.now() } = deps;
  const mirrors = parseMirrors(deps.mirrors);
  const wire = createWire(deps.authorities);
  void untilAborted(signal).then(() => wire.close());
  const cache = createCommandCache(now);
  const pullSecrets = createPullSecrets({ client, signal, now });
  // the pod's come first: what they open needs nobody else's
  const allOf = async (pod: Pod, namespace: string, age: SecretsAge): Promise<PullCredentials> =>
    joined(await pullSecrets.of(pod, namespace, age), await ownCredentials(deps.credentialsPath));
  const flights = createFlights({ wire, cache, signal, now });
  const lookUp = { mirrors, cache, flights, log, local, count: createLookupCounter(metrics) };
  return {
    async commandsOf(pod, namespace, images, { timeoutMs, signal: ended }) {
      if (images.length === 0) return new Map();
      const limits = { deadline: performance.now() + timeoutMs, signal: ended };
      const pullBy = (age: SecretsAge) =>
        within(allOf(pod, namespace, age), limits.deadline, ended, secretsLate);
      const architecture = pod.spec.nodeSelector?.['kubernetes.io/arch'];
      const lookUpBy = async ({ credentials }: PullCredentials) => {
        const found = await lookUpAll({ images, architecture, credentials, namespace }, limits, lookUp);
        for (const each of [ended, signal]) each?.throwIfAborted();
        return found;
      };
      const pull = await pullBy('kept');
      const found = await lookUpBy(pull);
      if (!found.failures.some(isDenied)) return commandsOrFailure(found, pull);
      // a pull secret that was mended meanwhile must not be waited for
      const anew = await pullBy('anew');
      return commandsOrFailure(isDeepStrictEqual(anew, pull) ? found : await lookUpBy(anew), anew);
    },
  };
}

function joined(one: PullCredentials, other: PullCredentials): PullCredentials {
  return {
    credentials: [...one.credentials, ...other.credentials],
    problems: [...one.problems, ...other.problems],
  };
}

function commandsOrFailure({ commands, failures }: FoundImages, { problems }: PullCredentials) {
  if (failures.length === 0) return commands;
  throw new ImageLookupError(failures.map((failure) => ({ ...failure, problems })));
}

/** Other credentials might do. */
function isDenied({ error }: Failure): boolean {
  return hasCode(error, 'REGISTRY_DENIED', 'REGISTRY_MISSING');
}

function secretsLate(): SvcError {
  return new SvcError('PULL_SECRETS', 'The pull secrets of the pod could not be read in time', {
    nextStep: 'Check that the operator can reach the API server, and try again.',
    exitStatus: exitStatus.unavailable,
  });
}
