import { isRecord } from '../../../../keyserver/answers.ts';
import { failureOf, isVaultError, type VaultResponse } from '../../../../keyserver/contract.ts';
import { messageOf } from '../../../../runtime/errors.ts';
import {
  type CheckContext,
  failed,
  NotEvaluated,
  notEvaluated,
  passed,
  shared,
  skipped,
  type VaultQuery,
  type VaultSession,
} from '../../check.ts';
import { vaultCheck } from '../../make-check.ts';
import type { ValidateConfig } from '../../settings.ts';

export const answers = vaultCheck('SVC-VAULT-001', 'error', {
  title: 'The secrets server answers',
  cause:
    'The name does not resolve here, nothing listens, a firewall or network policy is in between, or its certificate is not trusted.',
  fix: 'Check VAULT_ADDR, and that pods can connect to it on its port; for a private authority set VAULT_CACERT.',
  async run({ address }, context) {
    try {
      await sealStatus(context);
      return passed(address.host);
    } catch (error) {
      if (!isVaultError(error)) throw error;
      return failed({ subject: address.host, message: `${messageOf(error)}.` });
    }
  },
});

interface SealStatus {
  readonly initialized: boolean;
  readonly sealed: boolean;
}

const query = { method: 'GET', path: 'sys/seal-status' } as const;

/** Needs no token in any state of the server. @throws VaultError */
export const sealStatus = shared(async (context): Promise<SealStatus> => {
  const { anonymous } = await context.vault();
  const answer = await anonymous.ask(query, context.signal);
  if (answer.status !== 200 || !isRecord(answer.body)) throw failureOf(query, answer);
  const { initialized, sealed } = answer.body;
  return { initialized: initialized === true, sealed: sealed !== false };
});

export const unsealed = vaultCheck('SVC-VAULT-002', 'error', {
  title: 'The secrets server is initialised and unsealed',
  cause:
    'It was restarted without automatic unsealing, or somebody has sealed it. Until it is unsealed nobody can log in.',
  fix: 'Unseal it (bao operator unseal), and set up automatic unsealing with a key of your own in the EU.',
  async run({ address }, context) {
    const { initialized, sealed } = await sealStatus(context);
    const subject = address.host;
    if (!initialized) return failed({ subject, message: 'It has not been initialised.' });
    return sealed ? failed({ subject, message: 'It is sealed.' }) : passed();
  },
});

export const active = vaultCheck('SVC-VAULT-003', 'info', {
  title: 'Requests go to a node that serves them',
  cause:
    'The address leads to a standby, which forwards requests, or to a secondary for disaster recovery, which does not.',
  fix: 'Make the address lead to the active node, for example by the health check of the load balancer (sys/health).',
  async run({ address, anonymous }, _context, signal) {
    const { status } = await anonymous.ask({ method: 'GET', path: 'sys/health' }, signal);
    const subject = address.host;
    if (status === 200) return passed();
    if (status === 429 || status === 473) return failed({ subject, message: 'A standby answers.' });
    if (status === 472)
      return failed({ subject, level: 'error', message: 'A secondary for disaster recovery answers.' });
    return notEvaluated(`sys/health answers ${status}.`);
  },
});

const dayMs = 86_400_000;
const soonDays = 30;
const noTls = 'The address is http://: there is no certificate. SVC-CONFIG-006 judges the address.';

const certificateOf = shared(async (context: CheckContext) =>
  (await context.vault()).certificate(context.signal),
);

export const certificateTrusted = vaultCheck('SVC-VAULT-004', 'error', {
  title: 'The certificate of the secrets server is trusted and matches its name',
  cause:
    'A private authority is not among those trusted here, the chain is incomplete, or the address is a name that the certificate does not have.',
  fix: 'Name the authority in VAULT_CACERT (in pods: mount it at /svc/certs), or use a name that the certificate contains.',
  async run({ address }, context) {
    const certificate = await certificateOf(context);
    if (certificate === undefined) return skipped(noTls);
    const { problem, subject } = certificate;
    if (problem === undefined) return passed();
    return failed({ subject: address.host, message: `Its certificate (${subject}) is refused: ${problem}.` });
  },
});

export const certificateLasts = vaultCheck('SVC-VAULT-005', 'warning', {
  title: 'The certificate of the secrets server does not expire soon',
  cause:
    'Nothing has renewed it. After it expires, wrappers do not start and the proxy neither stores nor reads.',
  fix: 'Renew it, and automate the renewal.',
  async run({ address }, context) {
    const certificate = await certificateOf(context);
    if (certificate === undefined) return skipped(noTls);
    const days = Math.floor((certificate.validTo - context.now()) / dayMs);
    const until = new Date(certificate.validTo).toISOString();
    const subject = address.host;
    if (days < 0) return failed({ subject, level: 'error', message: `It ended at ${until}.` });
    if (days < soonDays) return failed({ subject, message: `It ends at ${until}, in ${days} days.` });
    return passed(`until ${until}`);
  },
});

export const login = vaultCheck('SVC-VAULT-006', 'error', {
  title: 'The login works',
  cause:
    'The token is wrong or has expired; the role does not exist, or is bound to another service account, namespace or audience; the auth method is mounted elsewhere.',
  fix: 'Check VAULT_AUTH_ROLE and VAULT_AUTH_MOUNT_PATH, and what the role is bound to; for a login by token, put a valid one into the file of VAULT_TOKEN_FILE.',
  async run(vault) {
    try {
      await vault.workload();
      return passed();
    } catch (error) {
      if (!isVaultError(error) || error.kind === 'unavailable') throw error;
      return failed({ subject: vault.address.host, message: `${messageOf(error)}.` });
    }
  },
});

type Whose = Pick<ValidateConfig, 'identity' | 'secretPaths'>;

/** Whether the login should have the policy of a proxy. */
export const forProxy = (config: Whose): boolean => identityOf(config) !== 'wrapper';

/** Whether the login should have the policy of a wrapper. */
export const forWrapper = (config: Whose): boolean => identityOf(config) !== 'proxy';

function identityOf({ identity, secretPaths }: Whose): 'proxy' | 'wrapper' | 'both' {
  return identity ?? (secretPaths === undefined ? 'proxy' : 'both');
}

const capabilities = { GET: 'read', LIST: 'list', POST: 'update', PUT: 'update', DELETE: 'delete' } as const;

/**
 * Resolves with a success or a 404.
 * @throws NotEvaluated naming the missing capability; VaultError for any other failure
 */
export async function ask(
  session: VaultSession,
  query: VaultQuery,
  signal: AbortSignal,
): Promise<VaultResponse> {
  const answer = await session.ask(query, signal);
  if (answer.status === 404 || answer.status < 300) return answer;
  const failure = failureOf(query, answer);
  if (failure.kind !== 'denied') throw failure;
  const permission = `${capabilities[query.method]} on ${query.path}`;
  throw new NotEvaluated(
    'The secrets server does not let this be looked at; workloads must not have that capability: name a token that has it with --auditor-token-file.',
    permission,
    failure,
  );
}
