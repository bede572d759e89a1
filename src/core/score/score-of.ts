import { clipped } from './clipped.ts';
import type { Addend, Score, WorkloadFacts } from './contract.ts';
import { findingsOf } from './findings.ts';
import type { Rule } from './judgement.ts';
import { rules } from './rules.ts';
import { type Subject, subjectsOf } from './subject.ts';

interface Scored {
  readonly score: number;
  readonly addends: readonly Addend[];
}

/**
 * How well a workload is protected: the score of its worst pod, the first of equal ones, with the addends of that pod
 * and the findings of all. What is not known counts nothing. docs/adr/0007-protection-score.md has the weights.
 */
export function scoreOf(facts: WorkloadFacts): Score {
  const { kind, namespace, name, pods } = facts;
  const subjects = subjectsOf(facts);
  const { score, addends } = worst(subjects.map(scored));
  return {
    ...{ kind, namespace, name, score, pods: pods.length },
    protected: subjects.length > 0 && subjects.every(isProtected),
    enforced: subjects.length > 0 && subjects.every(isEnforced),
    addends,
    findings: findingsOf(subjects),
  };
}

function scored(subject: Subject): Scored {
  const addends = rules.map((rule) => addendOf(rule, subject));
  return { addends, score: addends.reduce((sum, { points }) => sum + points, 0) };
}

function addendOf({ name, of, judge }: Rule, subject: Subject): Addend {
  const { points, because, remedy } = judge(subject);
  return { name, points, of, because: clipped(because), ...(remedy && { remedy: clipped(remedy) }) };
}

function worst(all: readonly Scored[]): Scored {
  return all.reduce((least, one) => (one.score < least.score ? one : least), all[0] ?? nothing);
}

const isProtected = ({ applications, wrapped }: Subject): boolean =>
  wrapped.length > 0 && wrapped.length === applications.length;

const isEnforced = ({ agent }: Subject): boolean => agent?.covered === true && agent.enforcing;

/** Neither pod nor template: there is nothing to judge. */
const nothing: Scored = {
  score: 0,
  addends: rules.map(({ name, of }) => ({
    ...{ name, points: 0, of },
    because: 'It has no pod and no template.',
    remedy: 'It is known once a pod runs.',
  })),
};
