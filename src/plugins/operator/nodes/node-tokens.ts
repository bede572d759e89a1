import { createHash } from 'node:crypto';
import { hasCode, type KubeClient } from '../../../cluster/kube/client.ts';
import { BoundedMap, Remembered } from '../../../runtime/bounds/bounded-map.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../../runtime/logging/rate-limited-log.ts';
import { ReportRefused } from './read-report.ts';

/** Identifies an agent's node by the service account token of its pod. */
export interface NodeTokens {
  /**
   * The name of the node.
   * @param peer address from which the token came
   * @throws ReportRefused UNAUTHENTICATED for anything but an agent's token, RESOURCE_EXHAUSTED, UNAVAILABLE
   */
  nodeOf(token: string, peer: string): Promise<string>;
}

export interface NodeTokensOptions {
  readonly client: KubeClient;
  /** The operator's own, where the agents run as well. */
  readonly namespace: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** In milliseconds, monotonic. */
  readonly now?: () => number;
  /** Rate limit of token reviews. */
  readonly rate?: BucketSize;
}

const most = 10_000;
/** How long a token is accepted after its pod is gone. */
const keptMs = 5 * 60_000;
/** When another replica begins to lead, all agents of a large cluster connect within a minute. */
const usualRate: BucketSize = { burst: 1_000, perSecond: 100 };
/** Each agent's token is reviewed once in five minutes, so that a compromised node cannot use up the shared limit. */
const peerRate: BucketSize = { burst: 30, perSecond: 0.5 };
const complaints = { burst: 5, everyMs: 10_000 };
/** The form of the API server's tokens: three parts, a few kilobytes. */
const form = /^[\w-]{1,4096}\.[\w-]{1,12288}\.[\w-]{1,2048}$/;

/** Lets the API server review each token once in five minutes. */
export function createNodeTokens(options: NodeTokensOptions): NodeTokens {
  const { client, namespace, signal, now = () => performance.now() } = options;
  const log = new RateLimitedLog(options.log, complaints, now);
  const age = { mostMs: keptMs, now };
  const kept = new Remembered<string>(most, age);
  const bucket = new TokenBucket(options.rate ?? usualRate, now());
  const peers = new BoundedMap<string, TokenBucket>(most, { age });
  const takeFor = (peer: string): boolean => {
    const own = peers.get(peer) ?? new TokenBucket(peerRate, now());
    peers.set(peer, own);
    return own.take(now()) && bucket.take(now());
  };
  const ask = async (token: string): Promise<string> => {
    try {
      const agent = await reviewToken(client, { token, namespace, signal });
      return agent.node ?? (await nodeOfPod(client, { ...agent, namespace, signal }));
    } catch (error) {
      if (error instanceof ReportRefused) throw error;
      log.warn('nodes.token_review_failed', () => describeError(error));
      const why = hasCode(error, 'KUBE_DENIED') ? 'may not review tokens at' : 'got no answer from';
      throw new ReportRefused('UNAVAILABLE', `the operator ${why} the API server`);
    }
  };
  return {
    nodeOf(token, peer) {
      if (!form.test(token))
        return Promise.reject(new ReportRefused('UNAUTHENTICATED', 'this is not a token'));
      const key = createHash('sha256').update(token).digest('base64');
      const known = kept.get(key);
      if (known !== undefined) return known;
      if (!takeFor(peer))
        return Promise.reject(new ReportRefused('RESOURCE_EXHAUSTED', 'too many tokens are to be reviewed'));
      return kept.keep(key, ask(token));
    },
  };
}

export interface NodeOfPodOptions extends Pick<TokenOwner, 'pod' | 'podUid'> {
  readonly namespace: string;
  readonly signal: AbortSignal;
}

interface PodObject {
  readonly metadata: { readonly uid?: string };
  readonly spec?: { readonly nodeName?: string };
}

/**
 * The node of a token's pod, for API servers whose review does not name it.
 * @throws ReportRefused UNAUTHENTICATED if the pod is gone or on no node; KubeError if the API server cannot be asked
 */
async function nodeOfPod(
  client: KubeClient,
  { pod, podUid, namespace, signal }: NodeOfPodOptions,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(pod)}`;
  const found = await client.request<PodObject>({ path, timeoutMs: 5_000, signal }).catch(absent);
  const node = found?.metadata.uid === podUid ? found.spec?.nodeName : undefined;
  if (!node) throw new ReportRefused('UNAUTHENTICATED', 'the pod of the token runs on no node');
  return node;
}

function absent(error: unknown): undefined {
  if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
}

/** The chart's service account of the agents. */
const account = 'svc-ebpf';
/** The audience of agents' tokens. Tokens for the API server are refused, because other parties see them. */
const audience = 'svc-operator';
const extra = 'authentication.kubernetes.io';

/** The pod that a token is bound to. */
interface TokenOwner {
  /** Undefined before Kubernetes 1.30, which does not report it. */
  readonly node: string | undefined;
  readonly pod: string;
  readonly podUid: string;
}

export interface TokenReviewOptions {
  readonly token: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

interface TokenReview {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly audiences?: readonly string[];
    readonly user?: {
      readonly username?: string;
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}

/**
 * The agent's pod that a token is bound to; the API server rejects the token once the pod is gone.
 * @throws ReportRefused UNAUTHENTICATED unless it is an agent's token; KubeError if the API server cannot be asked
 */
async function reviewToken(
  client: KubeClient,
  { token, namespace, signal }: TokenReviewOptions,
): Promise<TokenOwner> {
  const { status = {} } = await client.request<TokenReview>({
    ...{ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', timeoutMs: 5_000, signal },
    body: {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
      spec: { token, audiences: [audience] },
    },
  });
  const { authenticated, audiences = [], user = {} } = status;
  if (authenticated !== true) throw refused('the API server does not accept the token');
  if (!audiences.includes(audience)) throw refused(`the token is not for ${audience}`);
  if (user.username !== `system:serviceaccount:${namespace}:${account}`)
    throw refused(`the token is not of the service account ${namespace}/${account}`);
  const [node, pod, podUid] = ['node-name', 'pod-name', 'pod-uid'].map(
    (name) => user.extra?.[`${extra}/${name}`]?.[0],
  );
  if (!pod || !podUid) throw refused('the token is bound to no pod');
  return { node: node === '' ? undefined : node, pod, podUid };
}

const refused = (message: string): ReportRefused => new ReportRefused('UNAUTHENTICATED', message);

export interface BucketSize {
  /** Burst size. */
  readonly burst: number;
  readonly perSecond: number;
}

/** A token bucket: an average rate with a burst. */
export class TokenBucket {
  readonly #size: BucketSize;
  #tokens: number;
  #at: number;

  /** @param now in milliseconds, monotonic */
  constructor(size: BucketSize, now: number) {
    this.#size = size;
    this.#tokens = size.burst;
    this.#at = now;
  }

  take(now: number): boolean {
    const { burst, perSecond } = this.#size;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
