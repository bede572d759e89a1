import { isLoopback } from '../../../../core/settings/listen-address.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const encryptedAddresses: Check = {
  ...{ id: 'SVC-CONFIG-006', area: 'configuration', level: 'error', needs: 'none' },
  title: 'Servers are spoken to by https://',
  cause:
    'An address begins with http://. Tokens, secrets and data keys would cross the network in the clear.',
  fix: 'Use https://. A development server on this machine is told of as a warning.',
  async run({ config }) {
    const given = [
      { subject: 'VAULT_ADDR', url: config.vaultAddr },
      { subject: 'SVC_BROKER_ADDR', url: config.brokerAddr },
      { subject: 'SVC_PROXY_UPSTREAM', url: config.upstream },
    ];
    if (given.every(({ url }) => url === undefined)) return skipped('No server is named.');
    return verdict(given.flatMap(({ subject, url }) => inTheClear(subject, url)));
  },
};

function inTheClear(subject: string, url: URL | undefined): readonly CheckFailure[] {
  if (url === undefined || url.protocol === 'https:') return [];
  const level = isLoopback(url.hostname) ? 'warning' : 'error';
  return [{ subject, level, message: `It is http://${url.host}.` }];
}
