import { randomBytes } from 'node:crypto';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { secrets } from '../../../runtime/logging/secrets.ts';
import { readCertificate, type TlsIdentity, validityOf } from '../../../runtime/net/certificates.ts';
import { backdatedMs, createAuthority, issueCertificate } from '../../../runtime/net/issue-certificate.ts';
import {
  type AuthorityState,
  type AuthorityStore,
  authoritiesOf,
  identityIn,
  type SecretStore,
  type StoredState,
} from './authority-store.ts';
import { authorityVerdict, dayMs, isValidAuthority, type Lifetimes, leafVerdict } from './verdict.ts';

export interface KeeperParts {
  readonly store: AuthorityStore;
  /** Files of the agents. */
  readonly agents: SecretStore;
  readonly lifetimes: Lifetimes;
  readonly settling: CaPropagation;
  readonly dnsNames: readonly string[];
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly leading: () => boolean;
  /** The bundle that verifies the server, given this authority. */
  readonly serverBundle: (authorities: string) => string;
  /** Whether the API server already verifies the webhook with this bundle. */
  readonly isWritten: (bundle: string) => boolean;
  readonly log: Logger;
}

/** The leader's work: keeps the authority, the server's certificate and the agents' files up to date. */
export class CertificateKeeper {
  readonly #parts: KeeperParts;
  readonly #hideAuthorityKey = createSecretSlot();
  readonly #hideAgentKey = createSecretSlot();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** @throws KubeError; the next pass starts from the stored state */
  async pass(): Promise<void> {
    const { leading, settling } = this.#parts;
    if (!leading()) return settling.forget();
    const state = await this.#keepAuthority();
    if (state === undefined) return;
    await this.#keepAgents(state);
  }

  /** Undefined if another replica leads now. */
  async #keepAuthority(): Promise<AuthorityState | undefined> {
    const { store, leading, settling, now, lifetimes, dnsNames } = this.#parts;
    const stored = await store.read();
    const settled = settling.isSettled(authoritiesOf(stored));
    const { state, changes } = await renewed(stored, { now: now(), settled, lifetimes, dnsNames });
    this.#hideAuthorityKey(state.authority.key);
    if (!leading()) return undefined;
    if (changes.length > 0) {
      await store.write(state);
      this.#parts.log.info('certificates.renewed', { changes });
    }
    return state;
  }

  async #keepAgents(state: AuthorityState): Promise<void> {
    const { agents, leading, settling, now, lifetimes, isWritten, log } = this.#parts;
    const authorities = authoritiesOf(state);
    const serverBundle = this.#parts.serverBundle(authorities);
    const stored = await agents.read();
    const facts = { now: now(), lifetimes, serverBundle, settled: settling.isSettled(authorities) };
    const { data, changes } = await agentFiles(stored.data, state, facts);
    this.#hideAgentKey(data['tls.key'] ?? '');
    if (!leading()) return;
    if (changes.length > 0) {
      await agents.write(stored, data);
      log.info('certificates.agents.renewed', { name: agents.name, changes });
    }
    settling.see(authorities, isWritten(serverBundle));
  }
}

/** Shared by the agents of all nodes, which also present their pod's token: see proto/svc/operator/v1. */
const agentName = 'svc://node-agent';

export interface AgentFacts {
  readonly now: number;
  readonly lifetimes: Lifetimes;
  readonly settled: boolean;
  /** PEM bundle that verifies the server's certificate. */
  readonly serverBundle: string;
}

type Data = Readonly<Record<string, string>>;

export interface AgentFiles {
  readonly data: Data;
  /** What was replaced and why; empty if nothing was. */
  readonly changes: readonly string[];
}

/** The files of the agents of all nodes, unchanged as far as possible. */
export async function agentFiles(
  stored: Data,
  { authority, previous }: AuthorityState,
  facts: AgentFacts,
): Promise<AgentFiles> {
  const { now, lifetimes, settled, serverBundle } = facts;
  const changes: string[] = [];
  let leaf = identityIn(stored, 'tls');
  const names = [`URI:${agentName}`];
  const { kind, reason } = leafVerdict(leaf, { now, authority, previous, names, settled });
  if (kind !== 'good') {
    changes.push(`agents' certificate: ${reason}`);
    const common = { commonName: 'svc-agent', uris: [agentName], usage: 'client' as const };
    leaf = await issueCertificate(authority, { ...common, days: lifetimes.leafDays, now });
  }
  if (stored['ca.crt'] !== serverBundle) changes.push("agents' authorities: they are not the operator's");
  const { cert, key } = leaf as TlsIdentity;
  return { data: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': serverBundle }, changes };
}

export interface RenewFacts {
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly lifetimes: Lifetimes;
  readonly dnsNames: readonly string[];
  /** Whether the stored bundle has been distributed everywhere for a while. */
  readonly settled: boolean;
}

export interface Renewed {
  readonly state: AuthorityState;
  /** What was replaced and why; empty if nothing was. */
  readonly changes: readonly string[];
}

/**
 * One step of the renewal. A new authority is first only announced: certificates of the previous one stay in use until
 * everybody trusts the new one, and the previous one stays trusted while any certificate that it signed is valid.
 */
export async function renewed(stored: StoredState, facts: RenewFacts): Promise<Renewed> {
  const changes: string[] = [];
  const { authority, previous, isNew } = await authorityFor(stored, facts, changes);
  const leaf = {
    ...{ now: facts.now, authority, previous, settled: facts.settled && !isNew },
    names: facts.dnsNames.map((name) => `DNS:${name}`),
  };
  const { kind, reason } = leafVerdict(stored.server, leaf);
  if (kind === 'good')
    return { state: { authority, previous, server: stored.server as TlsIdentity }, changes };
  changes.push(`server certificate: ${reason}`);
  return { state: { authority, previous, server: await serverCertificate(authority, facts) }, changes };
}

interface Authorities {
  readonly authority: TlsIdentity;
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
  const authority = stored.authority as TlsIdentity;
  const needed = previous !== undefined && !isOutlived(authority, facts);
  if (stored.previous !== undefined && !needed) changes.push('former authority: nothing of it is in use');
  return { authority, previous: needed ? previous : undefined, isNew: false };
}

/**
 * Whether every certificate of the previous authority has expired. That authority signs nothing once this one exists,
 * which was created `backdatedMs` after its own `notBefore`.
 */
function isOutlived(authority: TlsIdentity, { now, lifetimes }: RenewFacts): boolean {
  return (
    now > validityOf(readCertificate(authority.cert)).from + lifetimes.leafDays * dayMs + 2 * backdatedMs
  );
}

function newAuthority(now: number, { authorityDays }: Lifetimes): Promise<TlsIdentity> {
  const commonName = `svc-operator-ca-${randomBytes(4).toString('hex')}`;
  return createAuthority({ commonName, days: authorityDays, now });
}

function serverCertificate(
  authority: TlsIdentity,
  { now, lifetimes, dnsNames }: RenewFacts,
): Promise<TlsIdentity> {
  const days = lifetimes.leafDays;
  return issueCertificate(authority, { commonName: 'svc-operator', dnsNames, days, now, usage: 'server' });
}

/** Remembers how long a bundle of authorities has been distributed, by a monotonic clock. */
interface CaPropagation {
  /** @param known whether, as far as this replica can tell, the bundle is available to everybody from now on */
  see(bundle: string, known: boolean): void;
  isSettled(bundle: string): boolean;
  /** Called while another replica leads: what this one has seen becomes stale. */
  forget(): void;
}

/** @param clock monotonic milliseconds */
export function createCaPropagation(
  settleMs: number,
  clock: () => number = () => performance.now(),
): CaPropagation {
  let seen: { readonly bundle: string; readonly since: number } | undefined;
  return {
    see(bundle, known) {
      if (!known) seen = undefined;
      else if (seen?.bundle !== bundle) seen = { bundle, since: clock() };
    },
    isSettled: (bundle) => seen?.bundle === bundle && clock() - seen.since >= settleMs,
    forget() {
      seen = undefined;
    },
  };
}

/** Redacts the secret in use from every log line; the previous one may be forgotten. */
export function createSecretSlot(): (value: string) => void {
  let known = '';
  let forget = () => {};
  return (value) => {
    if (value === known) return;
    const forgetNew = secrets.register(value);
    forget();
    forget = forgetNew;
    known = value;
  };
}
