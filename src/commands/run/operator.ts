import { operatorSettings } from '../../plugins/operator/settings.ts';
import { componentCommand } from '../../runtime/cli/component-command.ts';

export default componentCommand({
  summary: 'Inject the wrapper and the proxy into pods that ask for them, and maintain what protects them.',
  description:
    'Serves the mutating webhook that the API server asks about each pod with svc/ annotations, or in a namespace with ' +
    'ServiceConfigs; keeps egress policies, reports and certificates; and collects the reports of node agents. A pod ' +
    'that cannot be protected as it asks is refused with the reason. Several replicas elect a leader for all but the ' +
    'webhook. Needs the service account of its Helm chart, or a KUBECONFIG.',
  examples: [
    '<%= config.bin %> run operator --wrapper-image registry.example/svc-wrapper:1 --proxy-image registry.example/svc-proxy:1',
    '<%= config.bin %> run operator --leader-elect false --cert-dir /certs --config svc.yaml',
  ],
  settings: operatorSettings,
  load: async () => (await import('../../plugins/operator/index.ts')).operator,
});
