import type { KnownNamespace } from '../../../core/cluster/known.ts';
import { isExempt } from '../../../core/cluster/protected.ts';
import { apiVersion } from '../../../core/custom-resources/condition.ts';
import {
  projectNamespace,
  projectSecretMapping,
  projectServiceConfig,
} from '../../../runtime/cluster/project-objects.ts';
import { projectPolicy } from '../../../runtime/cluster/project-policy.ts';
import { shared } from '../shared.ts';
import { listObjects } from './read.ts';

/** Those whose pods the webhook looks at. @throws NotEvaluated */
export const namespacesOf = shared(async (context): Promise<readonly KnownNamespace[]> => {
  const all = (await listObjects(context, { path: '/api/v1/namespaces', keep: projectNamespace })) ?? [];
  const own = context.config.operatorNamespace;
  return all.filter(({ name, terminating }) => !terminating && !isExempt(name, own));
});

/** Undefined where the cluster does not know them. @throws NotEvaluated */
export const serviceConfigsOf = shared((context) =>
  listObjects(context, { path: `/apis/${apiVersion}/serviceconfigs`, keep: projectServiceConfig }),
);

/** Undefined where the cluster does not know them. @throws NotEvaluated */
export const secretMappingsOf = shared((context) =>
  listObjects(context, { path: `/apis/${apiVersion}/secretmappings`, keep: projectSecretMapping }),
);

/** @throws NotEvaluated */
export const policiesOf = shared(async (context) => {
  const path = '/apis/networking.k8s.io/v1/networkpolicies';
  return (await listObjects(context, { path, keep: projectPolicy })) ?? [];
});
