import type { Subject } from './subject.ts';

/** What one addend is worth and why; a remedy wherever points are missing. */
export interface Judgement {
  readonly points: number;
  readonly because: string;
  readonly remedy?: string;
}

/** One part of a score. */
export interface Rule {
  readonly name: string;
  /** The most points that it gives. */
  readonly of: number;
  readonly judge: (subject: Subject) => Judgement;
}

/** The lowest; the first of equal ones. */
export function lowest(judgements: readonly Judgement[]): Judgement | undefined {
  return judgements.reduce<Judgement | undefined>(
    (least, one) => (least === undefined || one.points < least.points ? one : least),
    undefined,
  );
}
