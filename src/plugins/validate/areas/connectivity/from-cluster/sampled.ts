import { counted } from '../../../../../core/counted.ts';
import { concurrently } from '../../../../../runtime/lifecycle/concurrently.ts';
import { askPod } from '../../../cluster/ask-pod.ts';
import { capped } from '../../../cluster/capped.ts';
import { type PodAnswer, problemOf } from '../../../cluster/pod-answer.ts';
import type { SeenPod } from '../../../cluster/pods.ts';
import type { CheckContext, CheckFailure, CheckResult } from '../../../contract.ts';
import { notEvaluated, verdict } from '../../../results.ts';

/** Pods of one namespace have one policy, and mostly one way out. */
const eachNamespace = 3;
const most = 300;
const atOnce = 16;

export interface Question {
  readonly portOf: (pod: SeenPod) => number | undefined;
  /** Such as `healthz`; whoever answers it with 200 has reached what it needs. */
  readonly path: string;
  /** What it means when a pod answers otherwise, as a sentence. */
  readonly otherwise: string;
  /** What it means when one that is not ready does not answer at all, as a sentence. */
  readonly silent: string;
}

/**
 * Asks some pods of every namespace how they are. One that does not answer although the kubelet says that it is ready
 * proves nothing against what it needs, and nothing for it.
 */
export async function askSample(
  context: CheckContext,
  pods: readonly SeenPod[],
  question: Question,
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

function failureOf(pod: SeenPod, answer: PodAnswer, question: Question): readonly CheckFailure[] {
  if (answer.kind === 'ok') return [];
  const subject = pod.key;
  if (answer.kind === 'refused') return [{ subject, message: question.otherwise }];
  if (!pod.ready) return [{ subject, message: question.silent }];
  const message = `It does not answer, although the kubelet says that it is ready: ${answer.because}.`;
  return [{ subject, level: 'warning', message }];
}

/** Those that are not ready first: they are the ones that may not get through. */
function sampleOf(pods: readonly SeenPod[]): readonly SeenPod[] {
  const byNamespace = Map.groupBy(pods, ({ namespace }) => namespace);
  return [...byNamespace.values()]
    .flatMap((all) =>
      all.toSorted((one, other) => Number(one.ready) - Number(other.ready)).slice(0, eachNamespace),
    )
    .slice(0, most);
}
