import { projectPolicy } from '../../../runtime/cluster/project-policy.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { NamespaceContent } from '../namespace-content.ts';
import { type ConfigObject, type List, listConfigs, listPolicies, listProtectedPods } from './lists.ts';
import { isDenial, unevaluated } from './unevaluated.ts';

export interface ReadContent {
  /** Sorted by name; of all namespaces those that have something protected. */
  readonly namespaces: ReadonlyMap<string, NamespaceContent>;
  readonly warnings: readonly string[];
}

/**
 * Reads what protected pods and ServiceConfigs there are, and whatever policies.
 * @param only these namespaces; undefined: all
 * @throws SvcError naming everything that may not be read, or that the API server cannot be reached
 */
export async function readContent(
  client: KubeClient,
  only: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<ReadContent> {
  const read = <O extends InNamespace>(list: List<O>) => inEach(list, client, only, signal);
  const [pods, configs, policies] = await Promise.all([
    read(listProtectedPods),
    read(listConfigs),
    read(listPolicies),
  ]);
  // without the policies of others, ours are the same
  const unseen = policies.failures.filter(isDenial);
  const failures = [...pods.failures, ...configs.failures, ...policies.failures.filter((e) => !isDenial(e))];
  if (failures.length > 0) throw unevaluated(failures);
  const names = [...pods.objects, ...configs.objects].map(({ metadata }) => metadata.namespace ?? '');
  const all = [...new Set([...names, ...(only ?? [])])].sort();
  const contentOf = (name: string): NamespaceContent => ({
    pods: pods.by.get(name) ?? [],
    configs: (configs.by.get(name) ?? []).map(asConfig),
    policies: (policies.by.get(name) ?? []).map(projectPolicy),
  });
  return {
    namespaces: new Map(all.map((name) => [name, contentOf(name)])),
    warnings: unseen.map(
      ({ message }) => `Whether policies of others widen the egress is not known: ${message}`,
    ),
  };
}

interface InNamespace {
  readonly metadata: { readonly namespace?: string };
}

interface Listed<O> {
  readonly objects: readonly O[];
  readonly by: ReadonlyMap<string, readonly O[]>;
  readonly failures: readonly Error[];
}

async function inEach<O extends InNamespace>(
  list: List<O>,
  client: KubeClient,
  only: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<Listed<O>> {
  const objects: O[] = [];
  const failures: Error[] = [];
  for (const namespace of only ?? [undefined]) {
    try {
      objects.push(...(await list(client, namespace, signal)));
    } catch (error) {
      failures.push(error as Error);
      if (!isDenial(error)) break;
    }
  }
  return { objects, failures, by: Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '') };
}

function asConfig({ metadata, spec }: ConfigObject) {
  return { name: metadata.name, created: metadata.creationTimestamp ?? '', spec };
}
