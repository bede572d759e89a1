import { protectedLabel, proxyLabel } from '../../kubernetes/labels.ts';
import type { EgressFacts } from '../contract.ts';
import { dnsGrants } from '../dns-grants.ts';
import { narrowExtras, storeBlockGrants } from '../extra-grants.ts';
import { byText } from '../grants.ts';
import { policyLabels, policyNames } from '../names.ts';
import { onValidPorts } from '../valid-ports.ts';
import type { CiliumPolicies, CiliumPolicy } from './contract.ts';
import { ciliumApiServer, ciliumEndpoint, ciliumExtra } from './endpoint-grants.ts';
import { asCilium, type CiliumGrant, ciliumRules, podsIn } from './grants.ts';

type Warn = (text: string) => void;

/** As `egressPolicies`, for clusters with Cilium; addresses that names have now are not needed. */
export function ciliumPolicies(facts: EgressFacts): CiliumPolicies {
  const warnings = new Set<string>(facts.warnings);
  const warn: Warn = (text) => void warnings.add(text);
  const names = policyNames(facts.namespace);
  const policies = [policyOf(facts.namespace, names.main, protectedLabel, mainGrants(facts, warn), warn)];
  if (facts.stores.length > 0) {
    const stores = facts.stores.flatMap((each) => ciliumEndpoint(each, 'Object store', 'TCP', warn));
    const blocks = storeBlockGrants(facts, warn).map(asCilium);
    policies.push(policyOf(facts.namespace, names.store, proxyLabel, [...stores, ...blocks], warn));
  }
  return { policies, warnings: [...warnings].sort(byText) };
}

function mainGrants({ vaults, extra, apiServer, dns }: EgressFacts, warn: Warn): CiliumGrant[] {
  if (vaults.length === 0) warn('No secrets server is known; none can be reached');
  return [
    ...vaults.flatMap((each) => ciliumEndpoint(each, 'Secrets server', 'TCP', warn)),
    ...narrowExtras(extra, warn).flatMap((each) => ciliumExtra(each, warn)),
    ...ciliumApiServer(apiServer, warn),
    ...dnsGrants(dns, warn).map((grant) => ({ ...asCilium(grant), dns: true })),
    ...nodeCacheGrants(dns.addresses),
  ];
}

/** Where Cilium redirects what goes to the cache of a node, it goes to a pod. */
function nodeCacheGrants(addresses: readonly string[]): CiliumGrant[] {
  if (!addresses.includes('169.254.20.10')) return [];
  const cache = podsIn('kube-system', { 'k8s-app': 'node-local-dns' });
  return (['TCP', 'UDP'] as const).map((protocol) => ({ ...cache, protocol, port: 53, dns: true }));
}

function policyOf(
  namespace: string,
  name: string,
  label: string,
  grants: readonly CiliumGrant[],
  warn: Warn,
): CiliumPolicy {
  const rules = ciliumRules(onValidPorts(grants, warn));
  return {
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumNetworkPolicy',
    metadata: { name, namespace, labels: policyLabels },
    spec: {
      endpointSelector: { matchLabels: { [label]: 'true' } },
      // no rule at all would leave the pods free; one that names nothing allows nothing
      egress: rules.length === 0 ? [{}] : rules,
    },
  };
}
