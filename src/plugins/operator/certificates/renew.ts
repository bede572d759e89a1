import { randomBytes } from 'node:crypto';
import { backdatedMs } from '../../../runtime/tls/compose.ts';
import { createAuthority } from '../../../runtime/tls/create-authority.ts';
import type { Identity } from '../../../runtime/tls/identity.ts';
import { readCertificate, validityOf } from '../../../runtime/tls/inspect.ts';
import { issueCertificate } from '../../../runtime/tls/issue-certificate.ts';
import type { AuthorityState, StoredState } from './authority-state.ts';
import { dayMs, type Lifetimes } from './lifetimes.ts';
import { authorityVerdict, isValidAuthority, leafVerdict } from './verdict.ts';

export interface RenewFacts {
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly lifetimes: Lifetimes;
  readonly dnsNames: readonly string[];
  /** The stored bundle has been known everywhere for a while. */
  readonly settled: boolean;
}

export interface Renewed {
  readonly state: AuthorityState;
  /** What was replaced and why; empty where all is as it was. */
  readonly changes: readonly string[];
}

/**
 * One step of what has to be renewed. A new authority is only announced at first: what the former one signed serves on
 * until everybody knows the new one, and the former one stays known for as long as anything that it signed can live.
 */
export async function renewed(stored: StoredState, facts: RenewFacts): Promise<Renewed> {
  const changes: string[] = [];
  const { authority, previous, isNew } = await authorityFor(stored, facts, changes);
  const leaf = {
    ...{ now: facts.now, authority, previous, settled: facts.settled && !isNew },
    names: facts.dnsNames.map((name) => `DNS:${name}`),
  };
  const { kind, reason } = leafVerdict(stored.server, leaf);
  if (kind === 'good') return { state: { authority, previous, server: stored.server as Identity }, changes };
  changes.push(`server certificate: ${reason}`);
  return { state: { authority, previous, server: await serverCertificate(authority, facts) }, changes };
}

interface Authorities {
  readonly authority: Identity;
  readonly previous: string | undefined;
  readonly isNew: boolean;
}

async function authorityFor(stored: StoredState, facts: RenewFacts, changes: string[]): Promise<Authorities> {
  const { now, lifetimes } = facts;
  const previous = isValidAuthority(stored.previous, now) ? stored.previous : undefined;
  const { kind, reason } = authorityVerdict(stored.authority, now);
  if (kind === 'unusable' || (kind === 'due' && previous === undefined)) {
    changes.push(`authority: ${reason}`);
    const authority = await newAuthority(now, lifetimes);
    const former = stored.authority?.cert;
    return { authority, previous: isValidAuthority(former, now) ? former : previous, isNew: true };
  }
  const authority = stored.authority as Identity;
  const needed = previous !== undefined && !isOutlived(authority, facts);
  if (stored.previous !== undefined && !needed) changes.push('former authority: nothing of it is in use');
  return { authority, previous: needed ? previous : undefined, isNew: false };
}

/** Since an authority is there, nobody has signed by the one before; it is younger than its first date by `backdatedMs`. */
function isOutlived(authority: Identity, { now, lifetimes }: RenewFacts): boolean {
  return (
    now > validityOf(readCertificate(authority.cert)).from + lifetimes.leafDays * dayMs + 2 * backdatedMs
  );
}

function newAuthority(now: number, { authorityDays }: Lifetimes): Promise<Identity> {
  const commonName = `svc-operator-ca-${randomBytes(4).toString('hex')}`;
  return createAuthority({ commonName, days: authorityDays, now });
}

function serverCertificate(authority: Identity, { now, lifetimes, dnsNames }: RenewFacts): Promise<Identity> {
  const days = lifetimes.leafDays;
  return issueCertificate(authority, { commonName: 'svc-operator', dnsNames, days, now, usage: 'server' });
}
