import { carriesWrapper, isOver } from '../../../../core/cluster/protected.ts';
import type { Condition } from '../../../../core/custom-resources/condition.ts';
import type { ServiceConfigStatus } from '../../../../core/custom-resources/service-config.ts';
import { selects } from '../../../../core/kubernetes/label-selector.ts';
import { isLabelled, protectedLabel } from '../../../../core/kubernetes/labels.ts';
import type { KnownNamespace, KnownPod, KnownServiceConfig } from '../../cluster/contract.ts';
import { joinedMistakes, type NewCondition, withTransition } from '../conditions.ts';
import type { Judgement } from './mistakes.ts';

export interface StatusFacts {
  readonly config: KnownServiceConfig;
  readonly namespace: KnownNamespace | undefined;
  /** The webhook is never asked about its pods. */
  readonly exempt: boolean;
  /** Of its namespace. */
  readonly pods: Iterable<KnownPod>;
  readonly judgement: Judgement;
  readonly before: readonly Condition[] | undefined;
}

export function serviceConfigStatus(facts: StatusFacts): ServiceConfigStatus {
  const { config, before } = facts;
  const counts = countPods(config, facts.pods);
  const conditions = [validity(facts), readiness(facts, counts)].map((condition) =>
    withTransition({ ...condition, observedGeneration: config.generation }, before),
  );
  return { observedGeneration: config.generation, ...counts, conditions };
}

interface Counts {
  readonly matchedPods: number;
  readonly protectedPods: number;
}

function countPods({ spec }: KnownServiceConfig, pods: Iterable<KnownPod>): Counts {
  let matchedPods = 0;
  let protectedPods = 0;
  for (const { pod } of pods) {
    if (isOver(pod) || !selects(spec.selector, pod.metadata.labels)) continue;
    matchedPods++;
    if (carriesWrapper(pod)) protectedPods++;
  }
  return { matchedPods, protectedPods };
}

function validity({ judgement: { mistakes, left } }: StatusFacts): NewCondition {
  if (mistakes.length > 0)
    return { type: 'Valid', status: 'False', reason: 'SpecInvalid', message: joinedMistakes(mistakes) };
  const message =
    left.length === 0
      ? 'Its spec has no mistakes.'
      : `Its spec has no mistakes; each pod has to add: ${joinedMistakes(left)}`;
  return { type: 'Valid', status: 'True', reason: 'SpecValid', message };
}

/** The first that applies. */
function readiness(facts: StatusFacts, counts: Counts): NewCondition {
  const { namespace, exempt, judgement } = facts;
  const notReady = (reason: string, message: string): NewCondition => ({
    ...{ type: 'Ready', status: 'False', reason, message },
  });
  if (judgement.mistakes.length > 0)
    return notReady('SpecInvalid', 'Pods that it selects are refused until its mistakes are mended.');
  if (exempt) return notReady('NamespaceExempt', 'Pods of this namespace are never protected; use another.');
  if (!isLabelled(namespace?.labels)) return notReady('NamespaceNotLabelled', labelMessage(namespace));
  return { type: 'Ready', status: 'True', reason: 'Enforced', message: readyMessage(counts) };
}

function labelMessage(namespace: KnownNamespace | undefined): string {
  const value = namespace?.labels[protectedLabel];
  return value === undefined
    ? `The webhook is not asked about pods until the namespace is labelled ${protectedLabel}=true.`
    : `Somebody has labelled the namespace ${protectedLabel}=${value}: take the label off or set it to true.`;
}

function readyMessage({ matchedPods, protectedPods }: Counts): string {
  const missing = matchedPods - protectedPods;
  return missing === 0
    ? 'New pods that it selects are protected.'
    : `New pods that it selects are protected; ${missing} without the wrapper have to be made anew.`;
}
