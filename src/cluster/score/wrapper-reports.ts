import type { Container } from '../kube/pod.ts';
import { type Judgement, lowest, type PodProtection, type Subject } from './contract.ts';

type Report = PodProtection['reports'][number];

export interface WrapperRule {
  /** Judges a wrapper's measurements; undefined if they are missing. */
  readonly measured: (report: Report) => Judgement | undefined;
  /** Judges the container's settings if no wrapper reported. */
  readonly configured: (container: Container) => Judgement;
}

const unwrapped: Judgement = {
  points: 0,
  because: 'No container of the pod runs under the wrapper.',
  remedy: 'Protect the pod first.',
};

const planned: Judgement = {
  points: 0,
  because: 'No pod runs now, so this is not known.',
  remedy: 'It is known once a pod runs.',
};

/** The lowest judgement over the pod's wrappers: by report if there is one, else by configuration. */
export function worstWrapper({ exists, wrapped, reports }: Subject, rule: WrapperRule): Judgement {
  if (wrapped.length === 0) return unwrapped;
  if (!exists) return planned;
  const told = reports.map(rule.measured).filter((one) => one !== undefined);
  const assumed = told.length < wrapped.length ? wrapped.map(rule.configured) : [];
  return lowest([...told, ...assumed]) ?? unwrapped;
}

/** `known` without a value: the variable is not set. */
export type WrapperSetting =
  | { readonly known: true; readonly value: string | undefined }
  | { readonly known: false };

const unknown: WrapperSetting = { known: false };

/**
 * Value of a container's variable, as far as its pod tells: the last entry counts, and takes precedence over `envFrom`.
 */
export function settingOf({ env = [], envFrom = [] }: Container, name: ScoredVariable): WrapperSetting {
  const own = env.findLast((variable) => variable.name === name);
  if (own !== undefined) return fromEntry(own);
  return envFrom.some(({ prefix = '' }) => name.startsWith(prefix)) ? unknown : notSet;
}

const notSet: WrapperSetting = { known: true, value: undefined };

/** A value with references depends on other variables. */
function fromEntry({ value, valueFrom }: NonNullable<Container['env']>[number]): WrapperSetting {
  if (valueFrom !== undefined || value === undefined || value.includes('$(')) return unknown;
  return { known: true, value };
}

/**
 * Variables of a container that a score depends on. None of them is ever a secret. Whoever keeps pods for scoring keeps
 * these values and, of every other variable, only its name and source.
 */
export const scoredVariables = [
  'SVC_CORE_LIMIT',
  'SVC_DELIVERY',
  'SVC_REQUIRE_MEMFD_SECRET',
  'SVC_REQUIRE_MLOCK',
  'VAULT_SKIP_VERIFY',
] as const;

type ScoredVariable = (typeof scoredVariables)[number];
