import { decodeString, type JsonMember } from '../../runtime/bounds/json-document.ts';
import { compact, JsonView } from '../../runtime/bounds/json-view.ts';
import { namesPolicy } from '../answers.ts';
import { type ByteReply, type ByteRequest, wordsOf } from '../byte-server.ts';
import { refusalOf, VaultError } from '../contract.ts';
import type { AnswerFields } from '../logins.ts';
import { vaultPath } from '../path.ts';
import type { SecretBuffer } from '../secret-buffer.ts';
import type { SecretDocument, SecretField, SecretsServer } from './contract.ts';

/** Reads the secret at one place. @throws VaultError */
export function readSecret(
  server: SecretsServer,
  path: string,
  { kvVersion, apiPath }: SecretPlace,
  token: () => Uint8Array,
  signal: AbortSignal,
): Promise<SecretDocument> {
  const request: ByteRequest = { method: 'GET', path: apiPath, token };
  return server.ask(request, signal, (reply, keep) => {
    const { status } = reply;
    if (status === 404) throw absent(apiPath, reply);
    if (status !== 200) throw refusalOf(request, reply, wordsOf(reply, token()));
    const view = new JsonView(reply.bytes);
    const found = kvVersion === 2 ? view.at('data', 'data') : view.at('data');
    if (found?.kind === 'null') throw absent(apiPath, reply);
    if (found?.kind !== 'object') throw withoutData(apiPath, status);
    const version = kvVersion === 2 ? view.number('data', 'metadata', 'version') : undefined;
    const fields = view.members(found).map((member) => fieldOf(view.bytes, member));
    return documentOf({ path, kvVersion, version, fields }, keep());
  });
}

/** Decodes in place, because decoding never makes a value longer. */
function fieldOf(bytes: Uint8Array, member: JsonMember): SecretField {
  const { name, kind, start, end } = member;
  if (kind !== 'string') return { name, value: bytes.subarray(start, compact(bytes, member)) };
  const place = bytes.subarray(start);
  return { name, value: place.subarray(0, decodeString(bytes, start, end, place)) };
}

function documentOf(facts: Omit<SecretDocument, 'release'>, body: SecretBuffer): SecretDocument {
  return { ...facts, release: () => body.release() };
}

/** A deleted version in KV version 2 is a 404, too, but has metadata about the deletion. */
function absent(apiPath: string, { status, bytes }: ByteReply): VaultError {
  const deletion = deletionOf(bytes);
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

interface Mount {
  readonly segments: readonly string[];
  readonly kvVersion: 1 | 2;
}

/** Finds out which store holds a path, and caches it. */
export class Mounts {
  readonly #server: SecretsServer;
  readonly #token: () => Uint8Array;
  readonly #mounts: Mount[] = [];
  readonly #asking = new Map<string, Promise<unknown>>();
  /** The server, or a broker before it, does not know this request. */
  #untold = false;

  constructor(server: SecretsServer, token: () => Uint8Array) {
    this.#server = server;
    this.#token = token;
  }

  /**
   * The places to try in order: several only if the server does not name the mount.
   * @throws VaultError of kind `denied` if the token has no capability there
   */
  async places(segments: readonly string[], signal: AbortSignal): Promise<SecretPlace[]> {
    const known = this.#known(segments);
    if (known !== undefined) return known;
    const [first = ''] = segments;
    const asking = this.#asking.get(first);
    if (asking !== undefined) {
      await asking.catch(() => undefined);
      return this.places(segments, signal);
    }
    const answer = this.#ask(segments, signal).finally(() => this.#asking.delete(first));
    this.#asking.set(first, answer);
    return placesIn(await answer, segments);
  }

  #known(segments: readonly string[]): SecretPlace[] | undefined {
    const mount = this.#mounts.find((one) => isBelow(one, segments));
    return mount !== undefined || this.#untold ? placesIn(mount, segments) : undefined;
  }

  async #ask(segments: readonly string[], signal: AbortSignal): Promise<Mount | undefined> {
    const request: ByteRequest = { ...mountRequest(segments), token: this.#token };
    const mount = await this.#server.ask(request, signal, (reply) => {
      if (reply.status === 200) return mountFrom(reply, segments);
      this.#untold = reply.status === 404 || reply.status === 405;
      if (this.#untold) return undefined;
      const errors = wordsOf(reply, this.#token());
      throw reply.status === 403 && namesPolicy(errors)
        ? notGranted(segments, reply)
        : refusalOf(request, reply, errors);
    });
    if (mount === undefined || !isBelow(mount, segments)) return undefined;
    this.#mounts.push(mount);
    return mount;
  }
}

const placesIn = (mount: Mount | undefined, segments: readonly string[]): SecretPlace[] =>
  mount === undefined ? guessedPlaces(segments) : [placeIn(mount.segments, mount.kvVersion, segments)];

const isBelow = (mount: Mount, segments: readonly string[]): boolean =>
  mount.segments.length < segments.length && mount.segments.every((one, index) => one === segments[index]);

function mountFrom({ bytes }: ByteReply, segments: readonly string[]): Mount | undefined {
  const found = mountIn(new JsonView(bytes));
  if (found === undefined) return undefined;
  const { path, type, kvVersion } = found;
  if (!['kv', 'generic', 'cubbyhole'].includes(type)) throw otherEngine(path, type, segments);
  return { segments: path.split('/'), kvVersion };
}

function otherEngine(mount: string, type: string, segments: readonly string[]): VaultError {
  const path = segments.join('/');
  const store = path.startsWith(`${mount}/`) ? `${mount}/` : 'its store';
  const named = /^[a-z]+$/.test(type) ? `type ${type}` : 'another type';
  return new VaultError('not-found', `${path} is not a key/value secret: ${store} is of ${named}`, {
    path,
    nextStep: 'Name paths of key/value stores only.',
  });
}

function notGranted(segments: readonly string[], { status }: ByteReply): VaultError {
  const path = segments.join('/');
  const [mount, ...name] = segments;
  return new VaultError('denied', `The key server refuses read on ${path}, or has no such store`, {
    status,
    path,
    nextStep: `Grant the capability "read" on ${path} (in KV version 2: ${[mount, 'data', ...name].join('/')}) in a policy of this token or role, and check that the path exists.`,
  });
}

/** Requests the mount of a path, which any token with a capability there may do. */
export const mountRequest = (segments: readonly string[]) =>
  ({ method: 'GET', path: vaultPath('sys/internal/ui/mounts', ...segments) }) as const;

export interface FoundMount {
  /** Without trailing slashes. */
  readonly path: string;
  /** Type of the engine. */
  readonly type: string;
  readonly kvVersion: 1 | 2;
}

/** The store named in the answer to `mountRequest`, or undefined. */
export function mountIn(fields: Pick<AnswerFields, 'string'>): FoundMount | undefined {
  const path = fields.string('data', 'path');
  const type = fields.string('data', 'type');
  if (path === undefined || type === undefined) return undefined;
  const kvVersion = fields.string('data', 'options', 'version') === '2' ? 2 : 1;
  return { path: path.replace(/\/+$/, ''), type, kvVersion };
}

/** Location of a secret: its store and its name there. */
export interface SecretPlace {
  readonly kvVersion: 1 | 2;
  /** Relative to `/v1/`, encoded. */
  readonly apiPath: string;
}

/**
 * The segments of a path, without `v1/` of the API's own form.
 * @throws VaultError of kind `not-found` for an impossible path
 */
export function segmentsOf(path: string): string[] {
  const segments = path.replace(/^\/+|\/+$/g, '').split('/');
  const bare = segments[0] === 'v1' && segments.length > 2 ? segments.slice(1) : segments;
  if (bare.length < 2 || bare.some((one) => one === '' || one === '.' || one === '..')) throw unusable(path);
  return bare;
}

/** In version 2, `data` after the mount belongs to the API path, not to the name. */
export function placeIn(
  mount: readonly string[],
  kvVersion: 1 | 2,
  segments: readonly string[],
): SecretPlace {
  const name = segments.slice(mount.length);
  const [first, ...others] = name;
  const bare = kvVersion === 2 && first === 'data' && others.length > 0 ? others : name;
  if (bare.length === 0) throw unusable(segments.join('/'));
  return { kvVersion, apiPath: vaultPath(mount.join('/'), ...(kvVersion === 2 ? ['data'] : []), ...bare) };
}

/** Likely mounts on a server that does not name them: as in the path form of version 2, else the first segment. */
export function guessedPlaces(segments: readonly string[]): SecretPlace[] {
  const data = segments.indexOf('data', 1);
  const depth = data > 0 && data < segments.length - 1 ? data : 1;
  return [
    placeIn(segments.slice(0, depth), 2, segments),
    { kvVersion: 1, apiPath: vaultPath(segments[0] ?? '', ...segments.slice(1)) },
  ];
}

function unusable(path: string): VaultError {
  return new VaultError('not-found', `${JSON.stringify(path)} is not the path of a secret`, {
    path,
    nextStep: 'Write it as mount and name, such as secret/app.',
  });
}
