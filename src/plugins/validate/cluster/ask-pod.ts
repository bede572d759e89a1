import { isIPv6 } from 'node:net';
import { KubeError, readBody } from '../../../cluster/kube/client.ts';
import { concurrently } from '../../../runtime/lifecycle/wait.ts';
import { sendRequest } from '../../../runtime/net/http-client/send-request.ts';
import { counted } from '../../../runtime/units.ts';
import { type CheckContext, type CheckFailure, type CheckResult, notEvaluated, verdict } from '../check.ts';
import type { SeenPod } from './pods.ts';
import { asUnread, capped, missingPermission } from './read.ts';

const maxBytes = 4 * 1024 * 1024;
const timeoutMs = 5_000;
const inCluster = 'service account';

/**
 * Sends an HTTP request to a pod: from within the cluster first to the pod's own address, otherwise through the API
 * server. With enforced policies, possibly only other pods can reach it.
 * @param path such as `readyz`
 * @throws NotEvaluated if the request is not allowed
 */
export async function askPod(
  context: CheckContext,
  { namespace, name, address }: Pick<SeenPod, 'namespace' | 'name' | 'address'>,
  port: number,
  path: string,
): Promise<PodAnswer> {
  const client = await context.cluster();
  if (client.origin === inCluster && address !== undefined) {
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await askDirectly(address, port, path, signal);
    if (answer !== undefined) return answer;
  }
  const url = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}:${port}/proxy/${path}`;
  try {
    const request = { path: url, accept: '*/*', signal: context.signal, timeoutMs };
    const text = await client.read(request, (body) => readBody(`GET ${url}`, body, maxBytes));
    return { kind: 'ok', text };
  } catch (error) {
    if (!(error instanceof KubeError) || context.signal.aborted) throw error;
    if (missingPermission(error) !== undefined) throw asUnread(error);
    return failed(error);
  }
}

function failed({ message, status }: KubeError): PodAnswer {
  const [, because] = /error trying to reach service: (.*)$/.exec(message) ?? [];
  if (because !== undefined || status === undefined) return { kind: 'silent', because: because ?? message };
  return { kind: 'refused', status };
}

/** Asks an address of the cluster's network if this process is in it. Undefined if the address is not reachable. */
async function askDirectly(
  address: string,
  port: number,
  path: string,
  signal: AbortSignal,
): Promise<PodAnswer | undefined> {
  const url = new URL(`http://${isIPv6(address) ? `[${address}]` : address}:${port}/${path}`);
  try {
    const { status, body } = await sendRequest({ url, agent: false, signal });
    const text = await readBody(path, body, maxBytes);
    return status === 200 ? { kind: 'ok', text } : { kind: 'refused', status };
  } catch {
    return undefined;
  }
}

/** `silent`: no response from the pod. */
type PodAnswer =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'silent'; readonly because: string };

/** Why a pod did not answer with 200, as the end of a sentence; undefined if it did. */
export function problemOf(answer: PodAnswer): string | undefined {
  if (answer.kind === 'silent') return answer.because;
  return answer.kind === 'refused' ? `it answers with ${answer.status}` : undefined;
}

/** A small sample: pods of one namespace share a policy, and mostly their egress path. */
const eachNamespace = 3;
const maxAsked = 300;
const atOnce = 16;

export interface PodRequest {
  readonly portOf: (pod: SeenPod) => number | undefined;
  /** Such as `healthz`; a pod that answers with 200 has reached what it needs. */
  readonly path: string;
  /** The meaning of any other answer, as a sentence. */
  readonly otherwise: string;
  /** The meaning of no answer from a pod that is not ready, as a sentence. */
  readonly silent: string;
}

/**
 * Asks some pods of every namespace for their state. A pod that does not respond although the kubelet reports it as
 * ready proves nothing either way.
 */
export async function askSample(
  context: CheckContext,
  pods: readonly SeenPod[],
  question: PodRequest,
): Promise<CheckResult> {
  const answers = await concurrently(sampleOf(pods), atOnce, async (pod) => ({
    pod,
    answer: await askPod(context, pod, question.portOf(pod) ?? 0, question.path),
  }));
  const unheard = answers.filter(({ pod, answer }) => pod.ready && answer.kind === 'silent');
  const [first] = unheard;
  if (first !== undefined && unheard.length === answers.length)
    return notEvaluated(
      `No pod could be asked through the API server, such as ${first.pod.key}: ${problemOf(first.answer)}`,
    );
  const failures = answers.flatMap(({ pod, answer }) => failureOf(pod, answer, question));
  return verdict(capped(failures), `${answers.length} of ${counted(pods.length, 'pod')} asked`);
}

function failureOf(pod: SeenPod, answer: PodAnswer, question: PodRequest): readonly CheckFailure[] {
  if (answer.kind === 'ok') return [];
  const subject = pod.key;
  if (answer.kind === 'refused') return [{ subject, message: question.otherwise }];
  if (!pod.ready) return [{ subject, message: question.silent }];
  const message = `It does not answer, although the kubelet says that it is ready: ${answer.because}.`;
  return [{ subject, level: 'warning', message }];
}

/** Takes pods that are not ready first, as the likely failures. */
function sampleOf(pods: readonly SeenPod[]): readonly SeenPod[] {
  const byNamespace = Map.groupBy(pods, ({ namespace }) => namespace);
  return [...byNamespace.values()]
    .flatMap((all) =>
      all.toSorted((one, other) => Number(one.ready) - Number(other.ready)).slice(0, eachNamespace),
    )
    .slice(0, maxAsked);
}
