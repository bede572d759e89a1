import type { VaultResponse } from '../../../../src/keyserver/contract.ts';
import type { PeerCertificate, VaultAccess, VaultQuery } from '../../../../src/plugins/validate/check.ts';

type Answers = Readonly<Record<string, unknown>>;

export interface FakeVault {
  /** By path: the body of a 200, or a number for another status. */
  readonly answers: Answers;
  /** By path; `deny` elsewhere. */
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
  readonly certificate: PeerCertificate | undefined;
  /** Thrown by a login. */
  readonly refusal: Error | undefined;
}

const address = new URL('https://vault.test:8200');
const day = 86_400_000;

/** What there is when nothing is wrong. The clock stands at the beginning of 2026. */
export const healthy: FakeVault = {
  answers: {
    'sys/seal-status': { initialized: true, sealed: false },
    'sys/health': {},
    'auth/kubernetes/role/shop': {
      data: { bound_service_account_names: ['web'], bound_service_account_namespaces: ['shop'] },
    },
    'sys/internal/ui/mounts/secret/shop': {
      data: { path: 'secret/', type: 'kv', options: { version: '2' } },
    },
    'secret/data/shop': { data: { data: { password: 'planted' } } },
    'transit/keys/svc': {
      data: {
        type: 'aes256-gcm96',
        exportable: false,
        allow_plaintext_backup: false,
        deletion_allowed: false,
        derived: false,
        latest_version: 2,
        min_decryption_version: 1,
        keys: { 1: Date.UTC(2025, 6, 1) / 1_000, 2: Date.UTC(2025, 11, 1) / 1_000 },
      },
    },
  },
  capabilities: {
    'transit/encrypt/svc': ['update'],
    'transit/decrypt/svc': ['update'],
    'secret/data/shop': ['read'],
  },
  certificate: { problem: undefined, validTo: Date.UTC(2026, 5, 1), subject: 'CN=vault.test' },
  refusal: undefined,
};

export const inDays = (days: number): number => Date.UTC(2026, 0, 1) + days * day;

/** @param changes to `healthy`; of its answers those that are named alone */
export function fakeVault(changes: Partial<FakeVault> = {}): VaultAccess {
  const { capabilities, certificate, refusal } = { ...healthy, ...changes };
  const answers = { ...healthy.answers, ...changes.answers };
  const ask = async (query: VaultQuery) => answerTo(query, answers);
  const session = async () => {
    if (refusal !== undefined) throw refusal;
    return { ask };
  };
  return {
    address,
    skipVerify: false,
    anonymous: { ask },
    workload: session,
    auditor: session,
    capabilities: async (paths) => new Map(paths.map((path) => [path, capabilities[path] ?? ['deny']])),
    certificate: async () => certificate,
  };
}

function answerTo({ path, body }: VaultQuery, answers: Answers): VaultResponse {
  const answer = path in answers ? answers[path] : undefined;
  if (typeof answer === 'number') return { status: answer, body: { errors: [] } };
  if (answer !== undefined) return { status: 200, body: answer };
  return (
    transit(path, body as { plaintext?: string; ciphertext?: string }) ?? { status: 404, body: undefined }
  );
}

/** Wraps by putting a prefix before it. */
function transit(path: string, { plaintext = '', ciphertext = '' } = {}): VaultResponse | undefined {
  if (path === 'transit/encrypt/svc')
    return { status: 200, body: { data: { ciphertext: `vault:v1:${plaintext}` } } };
  if (path === 'transit/decrypt/svc')
    return { status: 200, body: { data: { plaintext: ciphertext.replace('vault:v1:', '') } } };
  return undefined;
}
