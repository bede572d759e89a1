import { shared } from '../shared.ts';
import { tryPod } from './try-pod.ts';

const namespace = 'default';

/** What becomes of a pod that asks for protection by its annotations. @throws NotEvaluated */
export const annotatedPod = shared((context) =>
  tryPod(context, {
    namespace,
    annotations: {
      'svc/inject': 'true',
      'svc/vault-address': 'https://svc-validate.invalid',
      'svc/vault-role': 'svc-validate',
      'svc/secret-paths': 'secret/svc-validate',
    },
  }),
);
