import { apiVersion } from '../../../core/custom-resources/condition.ts';
import type { ProtectionReportStatus } from '../../../core/custom-resources/protection-report.ts';
import { createIntern } from '../../../runtime/cluster/intern.ts';
import { projectNamespace, projectServiceConfig } from '../../../runtime/cluster/project-objects.ts';
import { type PodObject, projectPod } from '../../../runtime/cluster/project-pod.ts';
import { projectPolicy } from '../../../runtime/cluster/project-policy.ts';
import { projectWorkload, type WorkloadObject } from '../../../runtime/cluster/project-workload.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';

/** Objects that the audit reads, and what it keeps of each. */
export interface Collection<O extends KubeObject, T> {
  readonly path: string;
  /** A cluster without the operator's custom resources has none. */
  readonly optional?: boolean;
  readonly project: (object: O) => T;
}

export interface KnownReport {
  readonly namespace: string;
  readonly status: ProtectionReportStatus | undefined;
}

type ReportObject = KubeObject & { readonly status?: ProtectionReportStatus };

/** Everything that scores are computed from, by name. */
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
      ...{ path: custom('serviceconfigs'), optional: true, project: projectServiceConfig },
    }),
    reports: collection({
      ...{ path: custom('protectionreports'), optional: true, project: projectReport },
    }),
  };
}

export type Collections = ReturnType<typeof collections>;

/** What is known of the cluster; each by `namespace/name`, or by name. */
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
