import { counted } from '../../../../../core/counted.ts';
import { concurrently } from '../../../../../runtime/lifecycle/concurrently.ts';
import { askPod } from '../../../cluster/ask-pod.ts';
import { capped } from '../../../cluster/capped.ts';
import { samplesOf } from '../../../cluster/metrics-text.ts';
import { problemOf } from '../../../cluster/pod-answer.ts';
import type { SeenPod } from '../../../cluster/pods.ts';
import type { Check, CheckContext, CheckFailure } from '../../../contract.ts';
import { failed, notEvaluated, passed, skipped } from '../../../results.ts';
import { proxiesOf } from './proxies.ts';

const most = 100;
const atOnce = 16;

export const proxiesToStore: Check = {
  ...{ id: 'SVC-NET-004', area: 'connectivity', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Proxies reach the object store on 443 (requests of their callers have succeeded)',
  cause:
    'The policy svc-egress-…-store does not name the store, its address has changed, or the proxy has no credentials. Up to 100 proxies are asked what they have answered.',
  fix: "Set svc/proxy-upstream or AWS_REGION so that the policy knows the store, and read the proxy's log.",
  async run(context) {
    const proxies = (await proxiesOf(context)).slice(0, most);
    if (proxies.length === 0) return skipped('No pod with the proxy runs');
    const found = await concurrently(proxies, atOnce, (pod) => askedOf(context, pod));
    const [first] = found;
    if (first !== undefined && found.every(({ problem }) => problem !== undefined))
      return notEvaluated(`No proxy could be asked, such as ${first.key}: ${first.problem}`);
    const failures = found.flatMap(failuresOf);
    if (failures.length > 0) return failed(...capped(failures));
    const used = found.filter(({ succeeded }) => succeeded > 0);
    if (used.length > 0) return passed(counted(used.length, 'proxy', 'proxies'));
    return skipped('No proxy has answered a request yet');
  },
};

interface Asked {
  readonly key: string;
  readonly succeeded: number;
  readonly broken: number;
  /** Why it could not be asked. */
  readonly problem: string | undefined;
}

function failuresOf({ key: subject, succeeded, broken, problem }: Asked): readonly CheckFailure[] {
  if (problem !== undefined)
    return [{ subject, level: 'warning', message: `It could not be asked: ${problem}.` }];
  if (succeeded > 0 || broken === 0) return [];
  return [{ subject, message: `All of its ${broken} requests failed with 500 to 599.` }];
}

/** Of its requests that touch the store, as its metrics count them. */
async function askedOf(context: CheckContext, pod: SeenPod): Promise<Asked> {
  const answer = await askPod(context, pod, pod.proxyPort ?? 0, 'metrics');
  const samples = answer.kind === 'ok' ? samplesOf(answer.text, 'svc_proxy_requests_total') : [];
  const count = (first: string) =>
    samples
      .filter(({ labels }) => labels['status']?.startsWith(first))
      .reduce((sum, { value }) => sum + value, 0);
  return { key: pod.key, succeeded: count('2'), broken: count('5'), problem: problemOf(answer) };
}
