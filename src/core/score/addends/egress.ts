import { isLabelled } from '../../kubernetes/labels.ts';
import type { Judgement, Rule } from '../judgement.ts';
import type { Subject } from '../subject.ts';

const of = 10;

/** The egress policy of the namespace is there and selects the pod. */
export const egress: Rule = { name: 'egress', of, judge };

function judge({ pod, exists, wrapped, egressPolicy, wideningPolicies }: Subject): Judgement {
  if (egressPolicy === undefined)
    return { points: 0, because: 'Whether egress is limited is not known.', remedy };
  if (!egressPolicy) return { points: 0, because: 'The namespace has no egress policy.', remedy };
  if (pod.spec.hostNetwork === true) return onHost;
  const labelled = exists ? isLabelled(pod.metadata.labels) : wrapped.length > 0;
  if (!labelled) return { points: 0, because: 'The egress policy does not select this pod.', remedy: start };
  if (wideningPolicies.length > 0) return widened(wideningPolicies);
  return { points: of, because: 'Egress is limited to what the pod needs.' };
}

const remedy = 'Have the operator apply the egress policy, or apply the output of svc netpol.';
const start = 'Have the pod protected and start it anew: it is labelled then.';

/** Policies add up: what any of them allows is allowed. */
const widened = (names: readonly string[]): Judgement => ({
  points: 0,
  because: `Other policies let the pod reach more: ${names.join(', ')}.`,
  remedy: 'Name what the pod needs in ServiceConfig.spec.egress, and take these policies away from it.',
});

const onHost: Judgement = {
  points: 0,
  because: "Policies do not apply to the node's network, which the pod uses.",
  remedy: 'Run the pod without hostNetwork.',
};
