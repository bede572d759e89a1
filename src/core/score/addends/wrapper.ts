import type { Rule } from '../judgement.ts';
import type { Subject } from '../subject.ts';

const of = 20;

/** Every container of the application starts under the wrapper; half of it at most where only some do. */
export const wrapper: Rule = { name: 'wrapper', of, judge };

function judge({ applications, wrapped, exists }: Subject) {
  if (wrapped.length === 0) return none;
  if (wrapped.length === applications.length) return { points: of, because: all(exists) };
  const left = applications.filter((one) => !wrapped.includes(one)).map(({ name }) => name);
  return {
    points: Math.floor((of / 2) * (wrapped.length / applications.length)),
    because: `${wrapped.length} of ${applications.length} containers start under the wrapper.`,
    remedy: `Have these wrapped too (svc/containers): ${left.join(', ')}.`,
  };
}

const all = (exists: boolean): string =>
  exists ? 'Every container starts under the wrapper.' : 'The webhook adds the wrapper to each pod.';

const none = {
  points: 0,
  because: 'No container starts under the wrapper.',
  remedy: 'Set svc/inject on the pods or select them by a ServiceConfig, and start them anew.',
};
