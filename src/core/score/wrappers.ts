import type { Container } from '../kubernetes/pod.ts';
import type { PodProtection } from './contract.ts';
import { type Judgement, lowest } from './judgement.ts';
import type { Subject } from './subject.ts';

type Report = PodProtection['reports'][number];

export interface WrapperRule {
  /** By what a wrapper measured; undefined where it did not tell. */
  readonly measured: (report: Report) => Judgement | undefined;
  /** By what its container sets, where no wrapper told. */
  readonly configured: (container: Container) => Judgement;
}

const unwrapped: Judgement = {
  points: 0,
  because: 'Nothing of the pod runs under the wrapper.',
  remedy: 'Have the pod protected first.',
};

const planned: Judgement = {
  points: 0,
  because: 'No pod runs now, so this is not known.',
  remedy: 'It is known once a pod runs.',
};

/** The least that holds for every wrapper of the pod: what one told, else what the containers say. */
export function worstWrapper({ exists, wrapped, reports }: Subject, rule: WrapperRule): Judgement {
  if (wrapped.length === 0) return unwrapped;
  if (!exists) return planned;
  const told = reports.map(rule.measured).filter((one) => one !== undefined);
  const assumed = told.length < wrapped.length ? wrapped.map(rule.configured) : [];
  return lowest([...told, ...assumed]) ?? unwrapped;
}
