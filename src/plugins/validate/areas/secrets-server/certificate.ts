import type { CheckContext } from '../../contract.ts';
import { failed, passed, skipped } from '../../results.ts';
import { shared } from '../../shared.ts';
import { vaultCheck } from './vault-check.ts';

const dayMs = 86_400_000;
const soonDays = 30;
const noTls = 'The address is http://: there is no certificate. SVC-CONFIG-006 judges the address.';

const certificateOf = shared(async (context: CheckContext) =>
  (await context.vault()).certificate(context.signal),
);

export const certificateTrusted = vaultCheck(
  {
    id: 'SVC-VAULT-004',
    title: 'The certificate of the secrets server is trusted and bears its name',
    level: 'error',
    cause:
      'A private authority is not among those trusted here, the chain is incomplete, or the address is a name that the certificate does not have.',
    fix: 'Give the authority by VAULT_CACERT (in pods: mount it at /svc/certs), or use a name that stands in the certificate.',
  },
  async ({ address }, context) => {
    const certificate = await certificateOf(context);
    if (certificate === undefined) return skipped(noTls);
    const { problem, subject } = certificate;
    if (problem === undefined) return passed();
    return failed({ subject: address.host, message: `Its certificate (${subject}) is refused: ${problem}.` });
  },
);

export const certificateLasts = vaultCheck(
  {
    id: 'SVC-VAULT-005',
    title: 'The certificate of the secrets server does not end soon',
    level: 'warning',
    cause:
      'Nothing has renewed it. When it has ended, wrappers do not start and the proxy neither stores nor reads.',
    fix: 'Renew it, and have that done by a program.',
  },
  async ({ address }, context) => {
    const certificate = await certificateOf(context);
    if (certificate === undefined) return skipped(noTls);
    const days = Math.floor((certificate.validTo - context.now()) / dayMs);
    const until = new Date(certificate.validTo).toISOString();
    const subject = address.host;
    if (days < 0) return failed({ subject, level: 'error', message: `It ended at ${until}.` });
    if (days < soonDays) return failed({ subject, message: `It ends at ${until}, in ${days} days.` });
    return passed(`until ${until}`);
  },
);
