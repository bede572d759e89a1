import type { Identity } from '../../../runtime/tls/identity.ts';
import { issueCertificate } from '../../../runtime/tls/issue-certificate.ts';
import { type AuthorityState, identityIn } from './authority-state.ts';
import type { Lifetimes } from './lifetimes.ts';
import { leafVerdict } from './verdict.ts';

/** Of the agents of all nodes, who show their pod's token beside it, as proto/svc/operator/v1 says. */
const agentName = 'svc://node-agent';

export interface AgentFacts {
  readonly now: number;
  readonly lifetimes: Lifetimes;
  readonly settled: boolean;
  /** PEM that the server's certificate is verified by. */
  readonly serverBundle: string;
}

type Data = Readonly<Record<string, string>>;

export interface AgentFiles {
  readonly data: Data;
  /** What was replaced and why; empty where all is as it was. */
  readonly changes: readonly string[];
}

/** The files of the agents of all nodes, as far as possible as they were. */
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
  if (stored['ca.crt'] !== serverBundle) changes.push("agents' authorities: the operator's are other ones");
  const { cert, key } = leaf as Identity;
  return { data: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': serverBundle }, changes };
}
