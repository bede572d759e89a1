import type { Check } from '../../../contract.ts';
import { skipped } from '../../../results.ts';
import { proxiesOf } from './proxies.ts';
import { askSample } from './sampled.ts';

export const proxiesToSecretsServer: Check = {
  ...{ id: 'SVC-NET-005', area: 'connectivity', level: 'error', needs: 'cluster', timeoutMs: 60_000 },
  title: 'Proxies reach the secrets server on 443 (they are ready)',
  cause:
    'A network policy or firewall, the certificate of the secrets server, or a role that does not accept the proxy.',
  fix: "Read the proxy's log: it names what it could not reach or was refused.",
  async run(context) {
    const proxies = await proxiesOf(context);
    if (proxies.length === 0) return skipped('No pod with the proxy runs');
    return askSample(context, proxies, {
      portOf: ({ proxyPort }) => proxyPort,
      path: 'readyz',
      otherwise: 'Its proxy is not ready: it has no session at the secrets server.',
      silent: 'Its proxy does not answer, and the pod is not ready.',
    });
  },
};
