import { protectedPodsOf } from '../../../cluster/protected-pods.ts';
import type { Check } from '../../../contract.ts';
import { skipped } from '../../../results.ts';
import { askSample } from './sampled.ts';

export const podsToSecretsServer: Check = {
  ...{ id: 'SVC-NET-001', area: 'connectivity', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Application pods reach the secrets server on 443 (their wrappers have fetched secrets)',
  cause:
    'A network policy or firewall between the pods and the secrets server, its name or certificate, or a role that does not accept them. Up to three pods of each namespace are asked through the API server.',
  fix: "Read the pod's log: the wrapper names what it could not reach or was refused. svc netpol writes the policy that lets it.",
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const pods = labelled.filter(({ running, wrapperPorts }) => running && wrapperPorts.length > 0);
    if (pods.length === 0) return skipped('No protected pod runs');
    return askSample(context, pods, {
      portOf: ({ wrapperPorts }) => wrapperPorts[0],
      path: 'healthz',
      otherwise: 'Its wrapper has not got its secrets.',
      silent: 'Its wrapper does not answer, and the pod is not ready.',
    });
  },
};
