import { asksForWrapper } from '../injection/protected-pods.ts';
import { isLabelled } from '../kube/labels.ts';
import {
  type Factor,
  type Finding,
  type Score,
  type ScoreRule,
  type Subject,
  subjectsOf,
  type WorkloadFacts,
} from './contract.ts';
import { rules, secretReferences } from './factors.ts';

interface Scored {
  readonly score: number;
  readonly addends: readonly Factor[];
}

/**
 * Scores a workload: the score and factors of its worst pod, the first of equal ones, and the findings of all pods.
 * Unknowns count 0. docs/adr/0007-protection-score.md has the weights.
 */
export function scoreOf(facts: WorkloadFacts): Score {
  const { kind, namespace, name, pods } = facts;
  const subjects = subjectsOf(facts);
  const { score, addends } = worst(subjects.map(scored));
  return {
    kind,
    namespace,
    name,
    score,
    pods: pods.length,
    protected: subjects.length > 0 && subjects.every(isProtected),
    enforced: subjects.length > 0 && subjects.every(isEnforced),
    addends,
    findings: findingsOf(subjects),
  };
}

function scored(subject: Subject): Scored {
  const addends = rules.map((rule) => factorOf(rule, subject));
  return { addends, score: addends.reduce((sum, { points }) => sum + points, 0) };
}

function factorOf({ name, of, judge }: ScoreRule, subject: Subject): Factor {
  const { points, because, remedy } = judge(subject);
  return { name, points, of, because: clipped(because), ...(remedy && { remedy: clipped(remedy) }) };
}

function worst(all: readonly Scored[]): Scored {
  return all.reduce((least, one) => (one.score < least.score ? one : least), all[0] ?? nothing);
}

const isProtected = ({ applications, wrapped }: Subject): boolean =>
  wrapped.length > 0 && wrapped.length === applications.length;

const isEnforced = ({ agent }: Subject): boolean => agent?.covered === true && agent.enforcing;

/** Without pod or template there is nothing to score. */
const nothing: Scored = {
  score: 0,
  addends: rules.map(({ name, of }) => ({
    name,
    points: 0,
    of,
    because: 'It has no pod and no template.',
    remedy: 'It is known once a pod runs.',
  })),
};

const maxFindings = 20;
const storeKey = 'AWS_SECRET_ACCESS_KEY';

/** Findings without duplicates, however many pods have them; at most 20. */
function findingsOf(subjects: readonly Subject[]): readonly Finding[] {
  const each = subjects.flatMap((subject) => checks.flatMap((check) => check(subject)));
  const distinct = new Map([...unprotected(subjects), ...each].map((one) => [one.id + one.message, one]));
  return [...distinct.values()]
    .slice(0, maxFindings)
    .map(({ id, message }) => ({ id, message: clipped(message) }));
}

type Check = (subject: Subject) => readonly Finding[];

const checks: readonly Check[] = [optedOut, unwrappedContainers, unlabelled, storeCredentials, references];

function unprotected(subjects: readonly Subject[]): readonly Finding[] {
  const bare = subjects.filter(({ exists, wrapped }) => exists && wrapped.length === 0);
  if (bare.length === 0) return [];
  const message = `${bare.length} of ${subjects.length} pods run without the wrapper; recreate them.`;
  return [{ id: 'unprotected-pods', message }];
}

function optedOut({ pod }: Subject): readonly Finding[] {
  if (pod.metadata.annotations?.['svc/inject'] !== 'false' || asksForWrapper(pod)) return [];
  return [{ id: 'opted-out', message: 'svc/inject: "false" keeps the wrapper out.' }];
}

function unwrappedContainers({ applications, wrapped }: Subject): readonly Finding[] {
  if (wrapped.length === 0) return [];
  return applications
    .filter((one) => !wrapped.includes(one))
    .map(({ name }) => ({
      id: 'unwrapped-container',
      message: `Container ${name} runs without the wrapper.`,
    }));
}

/** The webhook sets the label; without it neither policy nor agent selects the pod. */
function unlabelled({ pod, exists, wrapped }: Subject): readonly Finding[] {
  if (!exists || wrapped.length === 0 || isLabelled(pod.metadata.labels)) return [];
  return [{ id: 'missing-label', message: 'The label svc/protected=true was removed from the pod.' }];
}

/** Objects written to the store directly are plaintext. */
function storeCredentials({ applications }: Subject): readonly Finding[] {
  return applications
    .filter(({ env = [] }) => env.some(({ name }) => name === storeKey))
    .map(({ name }) => ({
      id: 'store-credentials',
      message: `Container ${name} has credentials of an object store, with which it can bypass the proxy.`,
    }));
}

function references({ pod }: Subject): readonly Finding[] {
  return secretReferences(pod).map((where) => ({
    id: 'secret-reference',
    message: `A Kubernetes Secret reaches the pod as ${where}.`,
  }));
}

const maxLength = 500;

/** Names in a text can be long and numerous, but space in a report is limited. */
function clipped(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
