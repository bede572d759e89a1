import { credentialServers, credentialSource } from '../../egress/credential-source.ts';
import type { Container } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { cloudIdentity } from './proxy-identity.ts';

/** Where the proxy has to ask for credentials although no egress policy lets it unless somebody says so. */
export function proxyWarnings({ proxy }: InjectionPlan, chosen: readonly Container[]): string[] {
  if (!proxy?.enabled || proxy.credentialsSecret !== undefined) return [];
  const { variables } = cloudIdentity(chosen, true);
  const source = credentialSource(new Set(variables.map(({ name }) => name)));
  if (source === 'given' || source === 'role') return [];
  const { name, address, port } = credentialServers[source];
  return [
    `svc-proxy: asks ${name} for credentials, which egress policies do not allow unless spec.egress of a ServiceConfig names ${address}/32 port ${port}.`,
  ];
}
