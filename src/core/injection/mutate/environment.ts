import type { Container, EnvironmentVariable } from '../../kubernetes/pod.ts';
import { originalArgs, originalCmd } from './wrapped.ts';

type Variables = readonly EnvironmentVariable[];

export interface AddedVariables {
  /** The original command line. */
  readonly start: Variables;
  /** These hold whatever the container says. */
  readonly settings: Variables;
  /** These where the container says nothing. */
  readonly defaults: Variables;
}

const isStart = ({ name }: EnvironmentVariable): boolean => name === originalCmd || name === originalArgs;

/**
 * The container's own variables in their order, then the original command line, which may refer to all of them and to
 * nothing else, then what is added. When the webhook is asked again, what others have put behind goes before.
 */
export function placeVariables(env: Variables, { start, settings, defaults }: AddedVariables): Variables {
  const at = env.findIndex(isStart);
  const before = at === -1 ? env : env.slice(0, at);
  const behind = (at === -1 ? [] : env.slice(at)).filter((one) => !isStart(one));
  const names = new Set([...settings, ...defaults].map(({ name }) => name));
  const own = [...before, ...behind.filter(({ name }) => !names.has(name))];
  const missing = ({ name }: EnvironmentVariable) => !own.some((one) => one.name === name);
  return [
    ...own.map((one) => settings.find(({ name }) => name === one.name) ?? one),
    ...start,
    ...settings.filter(missing),
    ...defaults.filter(missing).map((one) => behind.find(({ name }) => name === one.name) ?? one),
  ];
}

/** Variables that a container which is not wrapped yet sets otherwise than the operator. */
export function conflictsIn(
  { name: container, env = [] }: Container,
  settings: Variables,
): readonly string[] {
  const differing = env.filter(
    (one) => isStart(one) || settings.some((wanted) => wanted.name === one.name && !isEqual(wanted, one)),
  );
  return [...new Set(differing.map(({ name }) => name))].map(
    (name) => `container ${container}: should not set ${name}, because the operator sets it to another value`,
  );
}

const isEqual = (a: EnvironmentVariable, b: EnvironmentVariable): boolean =>
  a.value === b.value && a.valueFrom?.fieldRef?.fieldPath === b.valueFrom?.fieldRef?.fieldPath;
