import type { Judgement, Rule } from '../judgement.ts';
import { secretReferences } from '../secret-references.ts';
import type { Subject } from '../subject.ts';

const of = 10;

/** No secret reaches the pod by way of the cluster's own store. */
export const references: Rule = { name: 'references', of, judge };

function judge({ pod, wrapped }: Subject): Judgement {
  if (wrapped.length === 0) return unwrapped;
  const count = secretReferences(pod).length;
  if (count === 0) return { points: of, because: 'The pod refers to no Kubernetes Secret.' };
  return {
    points: count === 1 ? of / 2 : 0,
    because: `The pod refers to Kubernetes Secrets in ${count} ${count === 1 ? 'place' : 'places'}.`,
    remedy: 'Move these secrets to the secrets server, and name them in svc/secret-paths.',
  };
}

const unwrapped: Judgement = {
  points: 0,
  because: 'How the pod gets its secrets is not known.',
  remedy: 'Have the pod protected first.',
};
