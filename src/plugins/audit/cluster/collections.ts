import { hasCode, type KubeClient, type KubeObject } from '../../../cluster/kube/client.ts';
import { readLease, seemsHeld } from '../../../cluster/kube/lease.ts';
import {
  createIntern,
  type PodObject,
  projectNamespace,
  projectPod,
  projectPolicy,
  projectServiceConfig,
  projectWorkload,
  type WorkloadObject,
} from '../../../cluster/kube/project-objects.ts';
import type { ProtectionReportStatus } from '../../../cluster/resources/protection-report.ts';
import { apiVersion } from '../../../cluster/resources/resources.ts';
import { SvcError } from '../../../runtime/errors.ts';
import { checkStatus } from '../../../runtime/report/check-outcome.ts';

/** Objects that the audit reads, and the part of each that it keeps. */
export interface Collection<O extends KubeObject, T> {
  readonly path: string;
  /** Whether a cluster may lack the resource, as without the operator's custom resources. */
  readonly optional?: boolean;
  readonly project: (object: O) => T;
}

export interface KnownReport {
  readonly namespace: string;
  readonly status: ProtectionReportStatus | undefined;
}

type ReportObject = KubeObject & { readonly status?: ProtectionReportStatus };

/** All inputs of the scores, by name. */
export function collections() {
  const intern = createIntern();
  const workloads = (kind: string, path: string) =>
    collection({ path, project: (object: WorkloadObject) => projectWorkload(kind, object, intern) });
  const custom = (plural: string) => `/apis/${apiVersion}/${plural}`;
  return {
    namespaces: collection({ path: '/api/v1/namespaces', project: projectNamespace }),
    pods: collection({ path: '/api/v1/pods', project: (pod: PodObject) => projectPod(pod, intern) }),
    deployments: workloads('Deployment', '/apis/apps/v1/deployments'),
    statefulSets: workloads('StatefulSet', '/apis/apps/v1/statefulsets'),
    daemonSets: workloads('DaemonSet', '/apis/apps/v1/daemonsets'),
    replicaSets: workloads('ReplicaSet', '/apis/apps/v1/replicasets'),
    jobs: workloads('Job', '/apis/batch/v1/jobs'),
    cronJobs: workloads('CronJob', '/apis/batch/v1/cronjobs'),
    policies: collection({
      path: '/apis/networking.k8s.io/v1/networkpolicies',
      project: projectPolicy,
    }),
    serviceConfigs: collection({
      path: custom('serviceconfigs'),
      optional: true,
      project: projectServiceConfig,
    }),
    reports: collection({
      path: custom('protectionreports'),
      optional: true,
      project: projectReport,
    }),
  };
}

export type Collections = ReturnType<typeof collections>;

/** The objects of the cluster, by `namespace/name` or by name. */
export type ClusterObjects = {
  readonly [Name in keyof Collections]: Collections[Name] extends Collection<infer _O, infer T>
    ? Pick<ReadonlyMap<string, T>, 'values' | 'get'>
    : never;
};

function collection<O extends KubeObject, T>(given: Collection<O, T>): Collection<O, T> {
  return given;
}

function projectReport({ metadata, status }: ReportObject): KnownReport {
  return { namespace: metadata.namespace ?? '', status };
}

/** Whether an operator maintains the reports; `because` is why not, as a sentence. */
export type OperatorState = { readonly alive: true } | { readonly alive: false; readonly because: string };

const name = 'svc-operator';

/**
 * A leading operator renews its lease; for versions in which a single replica has no lease, the Deployment decides.
 * @throws SvcError AUDIT_DENIED; KubeError
 */
export async function operatorState(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
  now: number,
): Promise<OperatorState> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
  const lease = await findObject(client, path, `get leases.coordination.k8s.io in ${namespace}`, signal);
  return lease === undefined ? withoutLease(client, namespace, signal) : ofLease(lease, namespace, now);
}

function ofLease(lease: unknown, namespace: string, now: number): OperatorState {
  const { record } = readLease(lease);
  if (seemsHeld(record, now)) return { alive: true };
  const renewed =
    record.holder === '' ? 'is held by nobody' : `was last renewed at ${record.renewTime || 'no time'}`;
  return { alive: false, because: `No operator leads: The lease ${name} in ${namespace} ${renewed}.` };
}

async function withoutLease(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<OperatorState> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
  const deployment = await findObject(client, path, `get deployments.apps in ${namespace}`, signal);
  const { availableReplicas = 0 } = (deployment as Deployment | undefined)?.status ?? {};
  if (availableReplicas > 0) return { alive: true };
  return { alive: false, because: `No operator runs in ${namespace}.` };
}

interface Deployment {
  readonly status?: { readonly availableReplicas?: number };
}

async function findObject(
  client: KubeClient,
  path: string,
  permission: string,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await client.request<unknown>({ path, signal });
  } catch (error) {
    if (hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
    if (hasCode(error, 'KUBE_DENIED')) throw clusterDenied([permission], error);
    throw error;
  }
}

/** @param permissions such as `list pods` */
export function clusterDenied(permissions: readonly string[], cause: unknown): SvcError {
  return new SvcError('AUDIT_DENIED', 'The API server does not let the audit read what it needs', {
    nextStep: 'Give the user or service account a ClusterRole with what is listed, and run it again.',
    exitStatus: checkStatus.notEvaluated,
    details: permissions.map((permission) => `missing permission, cluster-wide: ${permission}`),
    cause,
  });
}
