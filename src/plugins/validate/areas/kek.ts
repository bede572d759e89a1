import { dataOf, isRecord } from '../../../keyserver/answers.ts';
import { vaultPath } from '../../../keyserver/path.ts';
import { type Check, failed, NotEvaluated, notEvaluated, passed, Skipped, shared } from '../check.ts';
import { checkOf } from '../make-check.ts';
import { ask, forProxy } from './secrets-server/server.ts';

/** @throws NotEvaluated if the key does not exist, or may not be read */
const transitKey = shared(async (context): Promise<TransitKey> => {
  const { transitMount, transitKey: name } = context.config;
  const path = vaultPath(transitMount, 'keys', name);
  const vault = await context.vault();
  const answer = await ask(await vault.auditor(), { method: 'GET', path }, context.signal);
  if (answer.status === 404) throw new NotEvaluated(`There is no key ${path}.`);
  return read(path, dataOf(answer.body));
});

/** A check of the KEK. */
const keyCheck = checkOf('vault', (context) => {
  if (!forProxy(context.config)) throw new Skipped('The identity is that of a wrapper, which uses no key.');
  return transitKey(context);
});

const keyType = keyCheck('SVC-KEK-001', 'error', {
  title: 'The key is of type aes256-gcm96',
  cause: 'It was created with another type.',
  fix: 'Create a key of type aes256-gcm96, point SVC_TRANSIT_KEY to it, and rewrite objects through the proxy.',
  run: ({ path, type }) =>
    type === 'aes256-gcm96' ? passed() : failed({ subject: path, message: `It is of type ${String(type)}.` }),
});

const notExportable = keyCheck('SVC-KEK-002', 'error', {
  title: 'The key cannot be exported',
  cause: 'It was created, or configured later, with exportable=true. That cannot be undone.',
  fix: 'Create another key, point SVC_TRANSIT_KEY to it, rewrite objects through the proxy, and retire this one.',
  run: ({ path, exportable }) =>
    exportable ? failed({ subject: path, message: 'It is exportable.' }) : passed(),
});

const noPlaintextBackup = keyCheck('SVC-KEK-003', 'error', {
  title: 'The key cannot be backed up as plaintext',
  cause: 'It was created, or configured later, with allow_plaintext_backup=true. That cannot be undone.',
  fix: 'Create another key, point SVC_TRANSIT_KEY to it, rewrite objects through the proxy, and retire this one.',
  run: ({ path, plaintextBackup }) =>
    plaintextBackup ? failed({ subject: path, message: 'It allows plaintext backups.' }) : passed(),
});

const rotated = keyCheck('SVC-KEK-004', 'error', {
  title: 'The key was rotated within the last quarter',
  cause: 'It has not been rotated for more than 92 days, and no automatic rotation is set.',
  fix: 'Rotate it (bao write -f transit/keys/svc/rotate), and set auto_rotate_period=2160h on the key. Objects stay readable.',
  run({ path, rotatedAt, latestVersion }, context) {
    if (Number.isNaN(rotatedAt)) return notEvaluated('The secrets server does not tell how old the key is.');
    const days = Math.floor((context.now() - rotatedAt) / dayMs);
    const made = `Version ${latestVersion} is ${days} days old`;
    return days > maxDays ? failed({ subject: path, message: `${made}.` }) : passed(made);
  },
});

const deletionForbidden = keyCheck('SVC-KEK-005', 'error', {
  title: 'The key cannot be deleted',
  cause: 'deletion_allowed is true. Without the key no object can be read again.',
  fix: 'bao write transit/keys/svc/config deletion_allowed=false',
  run: ({ path, deletionAllowed }) =>
    deletionAllowed ? failed({ subject: path, message: 'It may be deleted.' }) : passed(),
});

const oldVersionsReadable = keyCheck('SVC-KEK-006', 'warning', {
  title: 'All versions of the key can unwrap',
  cause:
    'min_decryption_version was advanced. Objects that were written under an earlier version cannot be read.',
  fix: 'Look for such objects with svc audit --bucket; lower min_decryption_version, rewrite them through the proxy, and advance it again.',
  run: ({ path, minDecryptionVersion: minVersion }) =>
    minVersion > 1
      ? failed({
          subject: path,
          message: `Versions before ${minVersion} unwrap nothing (min_decryption_version).`,
        })
      : passed(),
});

const notDerived = keyCheck('SVC-KEK-007', 'error', {
  title: 'The key needs no context',
  cause: 'The key needs a context with each request (derived=true), which the proxy does not send.',
  fix: 'Create a key without derived=true, and point SVC_TRANSIT_KEY to it.',
  run: ({ path, derived }) => (derived ? failed({ subject: path, message: 'It is derived.' }) : passed()),
});

export const kekChecks: readonly Check[] = [
  keyType,
  notExportable,
  noPlaintextBackup,
  rotated,
  deletionForbidden,
  oldVersionsReadable,
  notDerived,
];

const dayMs = 86_400_000;
/** The longest quarter. */
const maxDays = 92;

/** The transit engine's description of a key. */
interface TransitKey {
  /** `transit/keys/svc`. */
  readonly path: string;
  readonly type: unknown;
  readonly exportable: boolean;
  readonly plaintextBackup: boolean;
  readonly deletionAllowed: boolean;
  readonly derived: boolean;
  readonly latestVersion: number;
  readonly minDecryptionVersion: number;
  /** Of the latest version, in milliseconds since 1970. */
  readonly rotatedAt: number;
}

function read(path: string, data: Readonly<Record<string, unknown>>): TransitKey {
  const latestVersion = number(data, 'latest_version');
  return {
    path,
    type: data['type'],
    exportable: data['exportable'] !== false,
    plaintextBackup: data['allow_plaintext_backup'] !== false,
    deletionAllowed: data['deletion_allowed'] !== false,
    derived: data['derived'] !== false,
    latestVersion,
    minDecryptionVersion: number(data, 'min_decryption_version'),
    rotatedAt: timeOf(data['keys'], latestVersion),
  };
}

function number(data: Readonly<Record<string, unknown>>, member: string): number {
  const value = data[member];
  if (typeof value === 'number') return value;
  throw new NotEvaluated(`The secrets server does not tell ${member} of the key.`);
}

/** Seconds since 1970 for symmetric keys. */
function timeOf(keys: unknown, version: number): number {
  const seconds = isRecord(keys) ? keys[String(version)] : undefined;
  return typeof seconds === 'number' ? seconds * 1_000 : Number.NaN;
}
