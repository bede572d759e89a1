import { annotatedPod } from '../../cluster/annotated-pod.ts';
import type { Tried } from '../../cluster/try-pod.ts';
import type { Check } from '../../contract.ts';
import { failed, passed } from '../../results.ts';

export const annotatedPodMutated: Check = {
  ...{ id: 'SVC-OPERATOR-012', area: 'operator', level: 'error', needs: 'cluster', timeoutMs: 40_000 },
  title: 'A pod that asks for protection gets it (measured by a dry run, nothing is created)',
  cause:
    'The webhook configuration is missing or changed, no replica of the operator answers, a network policy or firewall lies between the API server and port 9443, or the CA bundle is another.',
  fix: 'Look at the other checks of the operator and the webhook; on private clusters let the control plane reach port 9443 of the nodes.',
  async run(context) {
    const tried = await annotatedPod(context);
    const message = problemOf(tried);
    return message === undefined ? passed() : failed({ subject: 'svc-operator', message });
  },
};

function problemOf(tried: Tried): string | undefined {
  switch (tried.kind) {
    case 'protected':
      return undefined;
    case 'bare':
      return 'A pod with svc/inject: "true" would start without the wrapper.';
    case 'refused':
      return `The operator refuses a pod that it should protect: ${tried.because}.`;
    default:
      return `Pods that ask for protection cannot start: ${tried.because}.`;
  }
}
