import { createKubeClient } from '../../../../src/cluster/kube/create-client.ts';
import { type CheckContext, type CheckResult, NotEvaluated } from '../../../../src/plugins/validate/check.ts';
import { runChecks } from '../../../../src/plugins/validate/index.ts';
import { checks } from '../../../../src/plugins/validate/registry.ts';
import type { ValidateConfig } from '../../../../src/plugins/validate/settings.ts';

/** Runs every check that needs a cluster, or those of these ids alone, against a real one; by id. */
export async function runClusterChecks(
  kubeconfig: string,
  only?: readonly string[],
  config: Partial<ValidateConfig> = {},
): Promise<ReadonlyMap<string, CheckResult>> {
  const client = await createKubeClient({ KUBECONFIG: kubeconfig });
  if (client === undefined) throw new NotEvaluated('no kubeconfig');
  const context = {
    ...{ cluster: async () => client, now: Date.now, version: '0.1.0', env: {} },
    signal: new AbortController().signal,
    config: { operatorNamespace: 'svc-system', probePods: false, ...config },
  } as unknown as CheckContext;
  try {
    const chosen = checks.filter(({ id, needs }) => needs === 'cluster' && (only?.includes(id) ?? true));
    const checked = await runChecks(chosen, context, () => {});
    return new Map(checked.map(({ check, result }) => [check.id, result]));
  } finally {
    client.close();
  }
}
