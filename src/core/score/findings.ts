import { isLabelled } from '../kubernetes/labels.ts';
import { clipped } from './clipped.ts';
import { asksForWrapper } from './containers.ts';
import type { Finding } from './contract.ts';
import { secretReferences } from './secret-references.ts';
import type { Subject } from './subject.ts';

const most = 20;
const storeKey = 'AWS_SECRET_ACCESS_KEY';

/** What a person should look at, each once however many pods have it; at most 20. */
export function findingsOf(subjects: readonly Subject[]): readonly Finding[] {
  const each = subjects.flatMap((subject) => checks.flatMap((check) => check(subject)));
  const distinct = new Map([...unprotected(subjects), ...each].map((one) => [one.id + one.message, one]));
  return [...distinct.values()].slice(0, most).map(({ id, message }) => ({ id, message: clipped(message) }));
}

type Check = (subject: Subject) => readonly Finding[];

const checks: readonly Check[] = [optedOut, unwrappedContainers, unlabelled, storeCredentials, references];

function unprotected(subjects: readonly Subject[]): readonly Finding[] {
  const bare = subjects.filter(({ exists, wrapped }) => exists && wrapped.length === 0);
  if (bare.length === 0) return [];
  const message = `${bare.length} of ${subjects.length} pods run without the wrapper; pods get it when they are started anew.`;
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

/** The label is the webhook's; without it neither policy nor agent select the pod. */
function unlabelled({ pod, exists, wrapped }: Subject): readonly Finding[] {
  if (!exists || wrapped.length === 0 || isLabelled(pod.metadata.labels)) return [];
  return [{ id: 'missing-label', message: 'The label svc/protected=true was taken off the pod.' }];
}

/** Whoever writes to the store directly writes plaintext. */
function storeCredentials({ applications }: Subject): readonly Finding[] {
  return applications
    .filter(({ env = [] }) => env.some(({ name }) => name === storeKey))
    .map(({ name }) => ({
      id: 'store-credentials',
      message: `Container ${name} has credentials of an object store, which it could use past the proxy.`,
    }));
}

function references({ pod }: Subject): readonly Finding[] {
  return secretReferences(pod).map((where) => ({
    id: 'secret-reference',
    message: `A Kubernetes Secret reaches the pod as ${where}.`,
  }));
}
