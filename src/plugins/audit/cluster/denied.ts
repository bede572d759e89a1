import { checkStatus } from '../../../core/checks/contract.ts';
import { SvcError } from '../../../core/errors.ts';

/** @param permissions such as `list pods` */
export function clusterDenied(permissions: readonly string[], cause: unknown): SvcError {
  return new SvcError('AUDIT_DENIED', 'The API server does not let the audit read what it needs', {
    nextStep: 'Give the user or service account a ClusterRole with what is listed, and run it again.',
    exitStatus: checkStatus.notEvaluated,
    details: permissions.map((permission) => `missing permission, cluster-wide: ${permission}`),
    cause,
  });
}
