import { compact } from '../../../core/json-bytes/compact.ts';
import { decodeString } from '../../../core/json-bytes/decode-string.ts';
import type { JsonMember } from '../../../core/json-bytes/json-value.ts';
import { JsonView } from '../../../core/json-bytes/json-view.ts';
import { VaultError } from '../errors.ts';
import type { SecretDocument, SecretField } from './contract.ts';
import type { KeyServer, Question, Reply } from './key-server.ts';
import { refusalOf, wordsOf } from './refusal.ts';
import type { SecretBuffer } from './secret-buffer.ts';
import type { SecretPlace } from './secret-path.ts';

/** Reads the secret at one place. @throws VaultError */
export function readSecret(
  server: KeyServer,
  path: string,
  { kvVersion, apiPath }: SecretPlace,
  token: () => Uint8Array,
  signal: AbortSignal,
): Promise<SecretDocument> {
  const question: Question = { method: 'GET', path: apiPath, token };
  return server.ask(question, signal, (reply, keep) => {
    const { status } = reply;
    if (status === 404) throw absent(apiPath, reply);
    if (status !== 200) throw refusalOf(question, status, wordsOf(reply, token()));
    const view = new JsonView(reply.body.bytes);
    const found = kvVersion === 2 ? view.at('data', 'data') : view.at('data');
    if (found?.kind === 'null') throw absent(apiPath, reply);
    if (found?.kind !== 'object') throw withoutData(apiPath, status);
    const version = kvVersion === 2 ? view.number('data', 'metadata', 'version') : undefined;
    const fields = view.members(found).map((member) => fieldOf(view.bytes, member));
    return documentOf({ path, kvVersion, version, fields }, keep());
  });
}

/** Decoded in its own place: no value grows by that. */
function fieldOf(bytes: Uint8Array, member: JsonMember): SecretField {
  const { name, kind, start, end } = member;
  if (kind !== 'string') return { name, value: bytes.subarray(start, compact(bytes, member)) };
  const place = bytes.subarray(start);
  return { name, value: place.subarray(0, decodeString(bytes, start, end, place)) };
}

function documentOf(facts: Omit<SecretDocument, 'release'>, body: SecretBuffer): SecretDocument {
  return { ...facts, release: () => body.release() };
}

/** A deleted version of KV version 2 is a 404, too, and its metadata tells. */
function absent(apiPath: string, { status, body }: Reply): VaultError {
  const deletion = deletionOf(body.bytes);
  if (deletion === undefined) {
    return new VaultError('not-found', `The key server has no secret at ${apiPath}`, {
      status,
      path: apiPath,
      nextStep: 'Check SVC_SECRET_PATHS, or write the secret.',
    });
  }
  return new VaultError('not-found', `The secret at ${apiPath} is ${deletion}`, {
    status,
    path: apiPath,
    nextStep: 'Write a new version of it, or undelete this one.',
  });
}

function deletionOf(bytes: Uint8Array): string | undefined {
  try {
    const view = new JsonView(bytes);
    const version = view.number('data', 'metadata', 'version');
    if (version === undefined) return undefined;
    return `${view.isTrue('data', 'metadata', 'destroyed') ? 'destroyed' : 'deleted'} (version ${version})`;
  } catch {
    return undefined;
  }
}

const withoutData = (path: string, status: number): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} without data`, { status, path });
