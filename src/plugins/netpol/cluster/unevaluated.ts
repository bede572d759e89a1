import { SvcError } from '../../../core/errors.ts';
import { hasCode, KubeError } from '../../../runtime/kube/errors.ts';

export function isDenial(error: unknown): error is KubeError {
  return hasCode(error, 'KUBE_DENIED');
}

/** One error for all that could not be read: every permission that is missing, or else what else is wrong. */
export function unevaluated(failures: readonly Error[]): Error {
  const other = failures.find((error) => !isDenial(error));
  if (other !== undefined) return other instanceof KubeError ? unreachable(other) : other;
  const [cause] = failures;
  return new SvcError('KUBE_DENIED', 'Not everything that the policies are made from may be read', {
    ...{ cause, details: [...new Set(failures.map(({ message }) => message))].sort() },
    nextStep:
      'Have what is named above granted, name namespaces that you may read with --namespace, or use --no-cluster.',
  });
}

function unreachable(error: KubeError): Error {
  return new SvcError(error.code, error.message, {
    cause: error,
    nextStep: 'Check KUBECONFIG and that the API server can be reached from here, or use --no-cluster.',
  });
}
