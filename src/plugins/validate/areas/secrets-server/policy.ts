import { randomBytes } from 'node:crypto';
import { dataOf } from '../../../../keyserver/answers.ts';
import { vaultPath } from '../../../../keyserver/path.ts';
import { authMethod } from '../../../../keyserver/settings.ts';
import {
  type CheckContext,
  type CheckFailure,
  failed,
  NotEvaluated,
  shared,
  skipped,
  verdict,
} from '../../check.ts';
import { vaultCheck } from '../../make-check.ts';
import { kvPlaces } from './engines.ts';
import { ask, forProxy, forWrapper } from './server.ts';

export const policySuffices = vaultCheck('SVC-VAULT-008', 'error', {
  title: 'The policy of the login permits what it needs',
  cause:
    'A path is missing in the policy, or has other capabilities. KV version 2 needs <mount>/data/<name>.',
  fix: 'For a proxy grant update on <transit>/encrypt/<key> and <transit>/decrypt/<key>; for a wrapper read on each KV path.',
  async run(_vault, context) {
    const nowhere = forWrapper(context.config) ? (await kvPlaces(context)).failures : [];
    const all = await grantedPaths(context);
    if (nowhere.length === 0 && all.every(({ wanted }) => wanted.length === 0))
      return skipped('A wrapper without KV paths needs nothing: give --secrets or SVC_SECRET_PATHS.');
    return verdict([...nowhere, ...all.flatMap(lacking)]);
  },
});

export const policyExact = vaultCheck('SVC-VAULT-009', 'error', {
  title: 'The policy of the login permits nothing else',
  cause:
    'The token belongs to root or to a person, or a policy has a wildcard, sudo, or more capabilities than are used. An attacker who takes over the workload then has them too.',
  fix: 'Write a policy with exactly the paths and capabilities of the specification, attach only it to the role, and remove the others. Use --identity to say whose policy it is.',
  run: async (_vault, context) => verdict(collected((await grantedPaths(context)).flatMap(beyond))),
});

function lacking({ path, wanted, has }: Granted): readonly CheckFailure[] {
  if (has.includes('root')) return [];
  const missing = wanted.filter((one) => !has.includes(one));
  return missing.length === 0 ? [] : [{ subject: path, message: `${missing.join(', ')} is not permitted.` }];
}

function beyond({ path, wanted, has }: Granted): readonly CheckFailure[] {
  const more = has.filter((one) => !wanted.includes(one));
  return more.length === 0 ? [] : [{ subject: path, message: `It permits ${more.join(', ')}.` }];
}

/** Reports a root token once instead of for every path. */
function collected(failures: readonly CheckFailure[]): readonly CheckFailure[] {
  if (!failures.every(({ message }) => message === 'It permits root.')) return failures;
  return failures.length === 0
    ? []
    : [{ subject: 'token', message: 'It is a token of root: everything is permitted.' }];
}

/** The login's capabilities on a path, and those that it should have. */
interface Granted {
  readonly path: string;
  readonly wanted: readonly string[];
  readonly has: readonly string[];
}

/** Looks up the login's capabilities on the paths that it needs, and on paths that it must not have. */
const grantedPaths = shared(async (context): Promise<readonly Granted[]> => {
  const wanted = await wantedOf(context);
  const paths = [...wanted.keys()];
  const found = await (await context.vault()).capabilities(paths, context.signal);
  return paths.map((path) => ({
    path,
    wanted: wanted.get(path) ?? [],
    has: (found.get(path) ?? []).filter((one) => one !== 'deny'),
  }));
});

/** Required capabilities by path, not encoded; empty where nothing may be allowed. */
async function wantedOf(context: CheckContext): Promise<ReadonlyMap<string, readonly string[]>> {
  const { config } = context;
  const wanted = new Map<string, readonly string[]>(administration.map((path) => [path, []]));
  const other = `svc-validate-${randomBytes(6).toString('hex')}`;
  for (const path of ofTransit(config.transitMount, config.transitKey, other)) wanted.set(path, []);
  const uses = forProxy(config) ? ['update'] : [];
  for (const operation of ['encrypt', 'decrypt'])
    wanted.set(`${config.transitMount}/${operation}/${config.transitKey}`, uses);
  if (!forWrapper(config)) return wanted;
  for (const { mount, version, readPath } of (await kvPlaces(context)).places) {
    const name = version === 2 ? `data/${other}` : other;
    wanted.set(`${mount}/${name}`, []);
    if (version === 2) wanted.set(readPath.replace(`${mount}/data/`, `${mount}/metadata/`), []);
    wanted.set(readPath, ['read']);
  }
  return wanted;
}

const administration = [
  'sys/mounts',
  'sys/mounts/svc-validate',
  'sys/auth',
  'sys/seal',
  'sys/audit',
  'sys/raw/core',
  'sys/policies/acl',
  'sys/policies/acl/svc-validate',
  'sys/storage/raft/snapshot',
  'auth/token/create',
  'auth/token/create-orphan',
  'identity/entity',
];

function ofTransit(mount: string, key: string, other: string): readonly string[] {
  const ofKey = ['keys', 'export/encryption-key', 'backup', 'rewrap', 'datakey/plaintext', 'datakey/wrapped'];
  return [
    ...ofKey.map((operation) => `${mount}/${operation}/${key}`),
    ...['config', 'rotate', 'trim'].map((operation) => `${mount}/keys/${key}/${operation}`),
    ...['keys', 'encrypt', 'decrypt'].map((operation) => `${mount}/${operation}/${other}`),
    `${mount}/keys`,
    `${mount}/restore`,
  ];
}

export const role = vaultCheck('SVC-VAULT-007', 'error', {
  title: 'The auth role is bound to named service accounts and namespaces',
  cause:
    'The role accepts every service account or every namespace (*), so that any pod of the cluster gets its secrets and its key. Namespaces chosen by labels are a warning.',
  fix: 'Set bound_service_account_names and bound_service_account_namespaces of the role to those of the workloads.',
  async run(vault, { config }, signal) {
    const { vaultAddr, vaultAuthRole: name, vaultAuthMountPath: mount } = config;
    if (vaultAddr === undefined || authMethod({ ...config, vaultAddr }) === 'token' || name === undefined)
      return skipped('The login is by a token, without a role.');
    const path = vaultPath(mount, 'role', name);
    const answer = await ask(await vault.auditor(), { method: 'GET', path }, signal);
    if (answer.status === 404) return failed({ subject: path, message: 'There is no such role.' });
    const data = dataOf(answer.body);
    const byLabels = selectedNamespaces(path, data);
    const named = byLabels.length === 0 || isFilled(data[namespaces]);
    return verdict([
      ...unbound(path, data, 'bound_service_account_names', 'service account'),
      ...(named ? unbound(path, data, namespaces, 'namespace') : []),
      ...byLabels,
    ]);
  },
});

const namespaces = 'bound_service_account_namespaces';

const isFilled = (bound: unknown): bound is readonly unknown[] => Array.isArray(bound) && bound.length > 0;

/** A role of another auth method has no service accounts; their absence must not count as bound. */
function unbound(
  subject: string,
  data: Readonly<Record<string, unknown>>,
  field: string,
  what: string,
): readonly CheckFailure[] {
  const bound = data[field];
  if (!isFilled(bound)) throw new NotEvaluated(`The secrets server does not tell ${field} of ${subject}.`);
  if (!bound.some((one) => /^\*+$/.test(String(one)))) return [];
  return [{ subject, message: `It accepts every ${what} (${field} has *).` }];
}

function selectedNamespaces(
  subject: string,
  data: Readonly<Record<string, unknown>>,
): readonly CheckFailure[] {
  if (!data['bound_service_account_namespace_selector']) return [];
  const message = 'It accepts namespaces by their labels, so that whoever labels one gets in.';
  return [{ subject, level: 'warning', message }];
}
