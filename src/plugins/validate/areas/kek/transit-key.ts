import { dataOf, isRecord } from '../../../../core/vault/answer.ts';
import { vaultPath } from '../../../../core/vault/path.ts';
import { NotEvaluated } from '../../not-evaluated.ts';
import { shared } from '../../shared.ts';
import { ask } from '../../vault/ask.ts';

/** A key of the transit engine as it describes itself. */
export interface TransitKey {
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

/** @throws NotEvaluated where there is no such key, or it may not be looked at */
export const transitKey = shared(async (context): Promise<TransitKey> => {
  const { transitMount, transitKey: name } = context.config;
  const path = vaultPath(transitMount, 'keys', name);
  const vault = await context.vault();
  const answer = await ask(await vault.auditor(), { method: 'GET', path }, context.signal);
  if (answer.status === 404) throw new NotEvaluated(`There is no key ${path}.`);
  return read(path, dataOf(answer.body));
});

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
