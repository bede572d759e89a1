import type { X509Certificate } from 'node:crypto';
import {
  isIssuedBy,
  readCertificate,
  readIdentity,
  type TlsIdentity,
  validityOf,
} from '../../../runtime/net/certificates.ts';

/** `unusable`: must be replaced at once; `due`: still usable, and replaced by an orderly rollover. */
export interface Verdict {
  readonly kind: 'good' | 'due' | 'unusable';
  readonly reason: string;
}

/** How far clocks of replicas may differ before one rejects another's certificate as not yet valid. */
const toleratedSkewMs = 10 * 60_000;
const renewalShare = 2 / 3;
/** A certificate is replaced after this share of its lifetime, even if something prevents an orderly rollover. */
const lastShare = 9 / 10;

const good: Verdict = { kind: 'good', reason: '' };
const due = (reason: string): Verdict => ({ kind: 'due', reason });
const unusable = (reason: string): Verdict => ({ kind: 'unusable', reason });

export function authorityVerdict(authority: TlsIdentity | undefined, now: number): Verdict {
  return judged(authority, now, (certificate) => {
    if (!certificate.ca) return unusable('it is not an authority');
    return spent(certificate, now) >= renewalShare ? due('two thirds of its life are over') : good;
  });
}

export interface LeafFacts {
  readonly now: number;
  readonly authority: TlsIdentity;
  readonly previous: string | undefined;
  /** Required names in the form of subjectAltName: `DNS:…`, `URI:…`. */
  readonly names: readonly string[];
  /** The authority has been distributed everywhere. */
  readonly settled: boolean;
}

export function leafVerdict(leaf: TlsIdentity | undefined, facts: LeafFacts): Verdict {
  const { now, authority, previous, names, settled } = facts;
  return judged(leaf, now, (certificate) => {
    const missing = names.filter((name) => !namesOf(certificate).includes(name));
    if (missing.length > 0) return unusable(`it is not for ${missing.join(', ')}`);
    const isNew = isIssuedBy(certificate, readCertificate(authority.cert));
    if (!isNew && !isOf(certificate, previous)) return unusable('it comes from another authority');
    if (spent(certificate, now) >= lastShare) return due('its life is nearly over');
    if (previous !== undefined && !settled) return good;
    if (!isNew) return due('its authority was replaced');
    return spent(certificate, now) >= renewalShare ? due('two thirds of its life are over') : good;
  });
}

/** Whether a previous authority's certificate can still verify others. */
export function isValidAuthority(pem: string | undefined, now: number): pem is string {
  if (pem === undefined) return false;
  try {
    const certificate = readCertificate(pem);
    return certificate.ca && datesVerdict(certificate, now) === undefined;
  } catch {
    return false;
  }
}

function judged(
  identity: TlsIdentity | undefined,
  now: number,
  judge: (certificate: X509Certificate) => Verdict,
): Verdict {
  if (identity === undefined) return unusable('there is none');
  try {
    const certificate = readIdentity(identity);
    return datesVerdict(certificate, now) ?? judge(certificate);
  } catch (error) {
    return unusable(`it cannot be used: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

function datesVerdict(certificate: X509Certificate, now: number): Verdict | undefined {
  const { from, to } = validityOf(certificate);
  if (now >= to) return unusable(`it expired at ${new Date(to).toISOString()}`);
  if (now < from - toleratedSkewMs) return unusable(`it is not valid before ${new Date(from).toISOString()}`);
  return undefined;
}

function spent(certificate: X509Certificate, now: number): number {
  const { from, to } = validityOf(certificate);
  return (now - from) / (to - from);
}

function namesOf({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ');
}

function isOf(certificate: X509Certificate, authority: string | undefined): boolean {
  return authority !== undefined && isIssuedBy(certificate, readCertificate(authority));
}

/** Lifetimes of certificates, and how long a new authority is distributed before use. */
export interface Lifetimes {
  readonly authorityDays: number;
  /** Of the server's and the agents' certificate. */
  readonly leafDays: number;
  /**
   * How long a bundle is distributed before certificates of its new authority are served: kubelets take minutes to
   * update files.
   */
  readonly settleMs: number;
}

export const usualLifetimes: Lifetimes = { authorityDays: 365, leafDays: 30, settleMs: 10 * 60_000 };

export const dayMs = 86_400_000;
