import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { AuditCall } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import { connect, explained } from './connect.ts';
import { evaluate } from './evaluate.ts';
import { auditedNodes } from './nodes.ts';
import { operatorState } from './operator-state.ts';
import { readCluster } from './read-cluster.ts';
import { type ClusterReport, clusterReport } from './report.ts';
import { watchCluster } from './watch-cluster.ts';
import { writeReport } from './write-report.ts';

/** Audits the cluster once, or for as long as it is watched; resolves with the exit status. @throws SvcError */
export async function auditCluster(call: AuditCall, terms: AuditTerms, signal: AbortSignal): Promise<number> {
  const client = await connect(call.env);
  try {
    const report = await auditOnce(client, call, terms, signal);
    if (call.flags.watch) return await watchCluster(client, report, call, terms, signal);
    writeReport(report, call, terms);
    return report.outcome.exitStatus;
  } catch (error) {
    throw explained(error, client);
  } finally {
    client.close();
  }
}

async function auditOnce(
  client: KubeClient,
  { flags }: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<ClusterReport> {
  const own = flags['operator-namespace'];
  const objects = await readCluster(client, signal);
  const operator = await operatorState(client, own, signal, Date.now());
  const found = {
    workloads: evaluate(objects, operator, own),
    nodes: auditedNodes(objects, operator, flags.namespace),
  };
  return clusterReport(client.server, found, flags, terms);
}
