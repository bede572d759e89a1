import type { Container } from '../kubernetes/pod.ts';
import type { ScoredVariable } from './variables.ts';

/** `known` without a value: the variable is not set. */
export type Setting =
  | { readonly known: true; readonly value: string | undefined }
  | { readonly known: false };

const unknown: Setting = { known: false };

/** What a container's variable is set to, as far as its pod says: the last of several counts, and before all `envFrom`. */
export function settingOf({ env = [], envFrom = [] }: Container, name: ScoredVariable): Setting {
  const own = env.findLast((variable) => variable.name === name);
  if (own !== undefined) return fromEntry(own);
  return envFrom.some(({ prefix = '' }) => name.startsWith(prefix)) ? unknown : notSet;
}

const notSet: Setting = { known: true, value: undefined };

/** A value that refers to others is what they are. */
function fromEntry({ value, valueFrom }: NonNullable<Container['env']>[number]): Setting {
  if (valueFrom !== undefined || value === undefined || value.includes('$(')) return unknown;
  return { known: true, value };
}
