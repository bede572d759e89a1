import { createHash } from 'node:crypto';
import { apiVersion } from '../../../core/custom-resources/condition.ts';
import { type ProtectionReportStatus, reportName } from '../../../core/custom-resources/protection-report.ts';
import { managedBy } from '../../../core/kubernetes/ownership.ts';
import { apply, applyStatus } from '../../../runtime/kube/apply.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { readObject } from '../../../runtime/kube/read-object.ts';
import { unless } from '../../../runtime/kube/unless.ts';
import { isSameStatus } from '../controllers/conditions.ts';

/** The reports as they stand at the API server. */
export interface ReportStore {
  /** Writes it unless it stands there already. @param status undefined: there is to be none. @throws KubeError */
  keep(namespace: string, status: ProtectionReportStatus | undefined, signal: AbortSignal): Promise<void>;
  /** The namespace is gone, and its report with it. */
  forget(namespace: string): void;
  /** Another replica may have written since. */
  forgetAll(): void;
}

const kind = 'ProtectionReport';
const nothing = 'none';

/** What stands there is read once, and again after `trustMs`: nobody else writes reports. */
export function createReportStore(client: KubeClient, trustMs: number): ReportStore {
  const known = new Map<string, { readonly digest: string; readonly until: number }>();
  return {
    async keep(namespace, status, signal) {
      const digest = status === undefined ? nothing : digestOf(status);
      const last = known.get(namespace);
      if (last?.digest === digest && performance.now() < last.until) return;
      known.delete(namespace);
      await write(client, namespace, status, signal);
      if (!signal.aborted) known.set(namespace, { digest, until: performance.now() + trustMs });
    },
    forget: (namespace) => void known.delete(namespace),
    forgetAll: () => known.clear(),
  };
}

async function write(
  client: KubeClient,
  namespace: string,
  status: ProtectionReportStatus | undefined,
  signal: AbortSignal,
): Promise<void> {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/protectionreports/${reportName}`;
  const found = await readObject<{ status?: object }>(client, path, signal);
  if (status === undefined) {
    if (found !== undefined)
      await unless(client.request({ method: 'DELETE', path, signal }), 'KUBE_NOT_FOUND');
    return;
  }
  if (found?.status !== undefined && isSameStatus(found.status, status)) return;
  const identity = { apiVersion, kind, metadata: { name: reportName, namespace } };
  if (found === undefined) {
    const object = { ...identity, metadata: { ...identity.metadata, labels: managedBy } };
    await apply(client, { path, object, signal });
  }
  await applyStatus(client, { path, object: { ...identity, status }, signal });
}

/** Whole statuses of all namespaces would be much to remember. */
function digestOf(status: ProtectionReportStatus): string {
  return createHash('sha256').update(JSON.stringify(status)).digest('base64');
}
