import { isText, member } from './objects.ts';

/** Who leads, as a Lease (coordination.k8s.io/v1) says it. */
export interface LeaseRecord {
  /** Empty where it was given up. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** By the clocks of their writers: shown to people, and told apart, never reckoned with. */
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly transitions: number;
}

/** A record as it was read, with the object around it, which is sent back when it is updated. */
export interface Lease {
  readonly object: Readonly<Record<string, unknown>>;
  readonly record: LeaseRecord;
}

/** What is missing or of another type counts as empty: a lease that nobody holds. */
export function readLease(object: unknown): Lease {
  const spec = member(object, 'spec');
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  const record = {
    holder: textOf(holderIdentity),
    durationSeconds: numberOf(leaseDurationSeconds),
    acquireTime: textOf(acquireTime),
    renewTime: textOf(renewTime),
    transitions: numberOf(leaseTransitions),
  };
  return { object: object as Readonly<Record<string, unknown>>, record };
}

/** Clocks of two machines differ. */
const skewMs = 60_000;

/**
 * Whether somebody holds it and has renewed it lately, as far as another machine's clock can tell: to be shown, and
 * nothing to elect by.
 * @param now milliseconds since 1970
 */
export function seemsHeld({ holder, durationSeconds, renewTime }: LeaseRecord, now: number): boolean {
  const age = Math.abs(now - Date.parse(renewTime));
  return holder !== '' && age <= durationSeconds * 1_000 + skewMs;
}

const textOf = (value: unknown): string => (isText(value) ? value : '');
const numberOf = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** The `spec` of the object; without a holder, as one that is given up is written. */
export function specOf(record: LeaseRecord): object {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
}

/** As the API wants times of a lease: six digits of a second, no more and no fewer. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
