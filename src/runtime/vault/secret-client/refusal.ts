import { exitStatus } from '../../../core/errors.ts';
import { JsonView } from '../../../core/json-bytes/json-view.ts';
import { namesDeadToken, serverErrors } from '../../../core/vault/answer.ts';
import { crossOutOpaque } from '../../../core/vault/opaque.ts';
import { VaultError } from '../errors.ts';
import { failureOf } from '../failure.ts';
import type { Question, Reply } from './key-server.ts';

/**
 * What the server says went wrong. Its words become strings, nothing else of the answer does.
 * @param secrets are crossed out, should the server repeat one, and so is whatever looks random
 */
export function wordsOf({ body }: Reply, ...secrets: readonly Uint8Array[]): string[] {
  const { bytes } = body;
  for (const secret of secrets) crossOut(bytes, secret);
  try {
    const view = new JsonView(bytes);
    const errors = view.at('errors');
    if (errors === undefined) return [];
    crossOutOpaque(bytes.subarray(errors.start, errors.end));
    return serverErrors(JSON.parse(`{"errors":${bytes.toString('utf8', errors.start, errors.end)}}`));
  } catch {
    return [];
  }
}

function crossOut(bytes: Buffer, secret: Uint8Array): void {
  if (secret.length === 0) return;
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
    bytes.fill(0x2a, at, at + secret.length);
  }
}

/** The error for an answer that is no success, where nothing more is known. */
export function refusalOf({ method, path }: Question, status: number, errors: readonly string[]): VaultError {
  if (status === 403 && namesDeadToken(errors)) return deadToken(status, path);
  const failure = failureOf({ method, path }, { status, body: { errors } });
  if (failure.kind !== 'rejected') return failure;
  return new VaultError('rejected', failure.message, {
    status,
    path,
    exitStatus: exitStatus.config,
    nextStep: 'Check the path, and whether VAULT_ADDR is a key server of a version that knows this request.',
  });
}

export const deadToken = (status: number, path: string): VaultError =>
  new VaultError(
    'denied',
    'The key server does not accept the token: it is wrong, has expired or was revoked',
    {
      status,
      path,
      nextStep: 'Give a valid token by VAULT_TOKEN_FILE or VAULT_TOKEN, or a role that may log in.',
    },
  );
