import type { CiliumPolicy } from '../../core/egress/cilium/contract.ts';
import { ciliumPolicies } from '../../core/egress/cilium/policies.ts';
import type { NetworkPolicy } from '../../core/egress/contract.ts';
import { egressPolicies } from '../../core/egress/policies.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { NameResolver } from '../../runtime/kube/cluster-addresses-resolver.ts';
import { gatherFacts } from '../../runtime/kube/egress-facts.ts';
import { KubeError } from '../../runtime/kube/errors.ts';
import { unevaluated } from './cluster/unevaluated.ts';
import { clusterEnvironment, type Environment, namedEnvironment } from './environment.ts';
import { type Finding, findingsOf } from './findings.ts';
import { givenApiServers, withGiven } from './given.ts';
import { lookUpOnce, noLookUps } from './names.ts';
import type { NetpolSettings } from './settings.ts';
import { wantedFor } from './wanted.ts';
import { createWarnings, type Warnings } from './warnings.ts';

export interface Generated {
  /** By namespace, and there the one for all protected pods first. */
  readonly policies: readonly (NetworkPolicy | CiliumPolicy)[];
  readonly warnings: readonly string[];
  readonly findings: readonly Finding[];
}

export interface GenerateOptions {
  readonly settings: NetpolSettings;
  /** Undefined: what was named is all that is known. */
  readonly client: KubeClient | undefined;
  readonly resolver?: NameResolver;
  readonly onProgress?: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Nothing is written before everything is known. @throws SvcError */
export async function generatePolicies(options: GenerateOptions): Promise<Generated> {
  try {
    return await generate(options);
  } catch (error) {
    throw error instanceof KubeError ? unevaluated([error]) : error;
  }
}

async function generate(options: GenerateOptions): Promise<Generated> {
  const { settings, signal, onProgress = () => {} } = options;
  const early: string[] = [];
  const lookUps = lookUpOnce((text) => early.push(text), options.resolver);
  const environment = await environmentOf(options, settings.flavor === 'cilium' ? noLookUps : lookUps);
  const warnings = createWarnings([...environment.namespaces.keys()]);
  const servers = await givenApiServers(settings, lookUps, warnings.add, signal);
  const policies: (NetworkPolicy | CiliumPolicy)[] = [];
  const findings: Finding[] = [];
  for (const [namespace, content] of environment.namespaces) {
    onProgress(`Finding out where ${namespace} connects to …`);
    const wanted = wantedFor(content, settings);
    const facts = withGiven(
      await gatherFacts(namespace, wanted, environment.addresses, signal),
      servers,
      settings.dns,
    );
    const kubernetes = egressPolicies(facts);
    const made = settings.flavor === 'cilium' ? ciliumPolicies(facts) : kubernetes;
    policies.push(...made.policies);
    for (const text of made.warnings) warnings.add(text, namespace);
    findings.push(...findingsOf(namespace, content, kubernetes.policies));
  }
  for (const text of [...environment.warnings, ...early]) warnings.add(text);
  if (environment.namespaces.size === 0) warnNothing(warnings);
  return { policies, warnings: warnings.lines(), findings };
}

function environmentOf(
  { settings, client, signal, onProgress }: GenerateOptions,
  names: ReturnType<typeof lookUpOnce>,
): Promise<Environment> | Environment {
  if (client === undefined) {
    const why = settings.noCluster
      ? 'no cluster is asked'
      : 'no cluster is known here: neither KUBECONFIG nor ~/.kube/config names one';
    return namedEnvironment(settings, names, why);
  }
  onProgress?.(`Reading protected pods and ServiceConfigs from ${client.server} …`);
  return clusterEnvironment(client, settings, names, signal);
}

function warnNothing(warnings: Warnings): void {
  warnings.add(
    'No namespace has protected pods or ServiceConfigs; there is nothing to write: name one with --namespace',
  );
}
