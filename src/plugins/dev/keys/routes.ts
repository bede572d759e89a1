import { isRecord } from '../../../keyserver/answers.ts';
import { isCanonicalBase64 } from '../../../keyserver/transit-messages.ts';
import { DurationError, parseDuration } from '../../../runtime/units.ts';
import {
  capabilityFor,
  type DevCapability,
  KeyRefusal,
  noSuchPath,
  remainingSeconds,
  type Token,
} from './access.ts';
import type { DevKeyRequest, KeyAnswer, KeyServerState, UnauthorizedRequest } from './exchange.ts';
import { answerKv, isNewSecret } from './kv-routes.ts';
import { isBelowKv, kvMount } from './kv-store.ts';
import type { TransitKey, TransitMounts } from './transit-keys.ts';

/** Answers the request if the token permits it. @throws KeyRefusal */
export function answerKeyRequest(
  state: KeyServerState,
  tokenId: string | undefined,
  asked: UnauthorizedRequest,
): KeyAnswer {
  const request = { ...asked, token: state.tokens.known(tokenId) };
  if (isMountLookup(request)) return answerMountLookup(state, request);
  state.tokens.authorize(request.token, neededFor(state, request), request.path);
  return handlerOf(request.path)(state, request);
}

function handlerOf(path: string): (state: KeyServerState, request: DevKeyRequest) => KeyAnswer {
  if (path.startsWith('sys/')) return answerSystem;
  if (path.startsWith('auth/token/')) return answerToken;
  return isBelowKv(path) ? answerKv : answerTransit;
}

function neededFor({ secrets }: KeyServerState, request: DevKeyRequest): DevCapability | undefined {
  const capability = capabilityFor(request.method);
  if (capability === 'read' && request.query.get('list') === 'true') return 'list';
  return capability === 'update' && isNewSecret(secrets, request.path) ? 'create' : capability;
}

/** Mounts and policies. @throws KeyRefusal */
function answerSystem({ tokens, mounts }: KeyServerState, { method, path, body }: DevKeyRequest): KeyAnswer {
  if (path === 'sys/mounts' && method === 'GET') return { status: 200, body: mountList(mounts.names()) };
  const [, kind, name] = /^sys\/(mounts|policies\/acl)\/(.+)$/.exec(path) ?? [];
  if (name === undefined || (method !== 'POST' && method !== 'PUT')) throw noSuchPath();
  if (kind === 'mounts') mountEngine(mounts, name.replace(/\/+$/, ''), body['type']);
  else tokens.writePolicy(name, String(body['policy'] ?? ''));
  return { status: 204 };
}

function mountList(transitNames: readonly string[]): unknown {
  const transit = transitNames.map((name) => [`${name}/`, describedMount.transit]);
  const data = { [`${kvMount}/`]: describedMount.kv, ...Object.fromEntries(transit) };
  return { ...data, data };
}

function mountEngine(mounts: TransitMounts, name: string, type: unknown): void {
  if (name === kvMount) throw new KeyRefusal(400, `path is already in use at ${name}/`);
  if (type !== 'transit') throw new KeyRefusal(400, 'plugin not found in the catalog: only transit is here');
  mounts.mount(name);
}

const lookup = 'sys/internal/ui/mounts/';

/** Descriptions of mounts, for `sys/mounts` and the lookup of a path. */
const describedMount = {
  kv: { type: 'kv', options: { version: '2' } },
  transit: { type: 'transit', options: null },
} as const;

/** Reading the mount of a path requires only some capability in that engine. */
const isMountLookup = ({ method, path }: Pick<DevKeyRequest, 'method' | 'path'>): boolean =>
  method === 'GET' && path.startsWith(lookup);

/** @throws KeyRefusal 403 also for a mount that does not exist, so that callers cannot probe mounts */
function answerMountLookup(state: KeyServerState, { path, token }: DevKeyRequest): KeyAnswer {
  const asked = decodeURIComponent(path.slice(lookup.length)).replace(/\/*$/, '/');
  const mount = mountOf(state, asked);
  if (mount === undefined || !state.tokens.mayReach(token, mount)) throw refused(asked);
  const described = mount === kvMount ? describedMount.kv : describedMount.transit;
  return { status: 200, body: { data: { ...described, path: `${mount}/` } } };
}

function mountOf({ mounts }: KeyServerState, asked: string): string | undefined {
  if (isBelowKv(asked)) return kvMount;
  return mounts.names().find((name) => asked.startsWith(`${name}/`));
}

const refused = (asked: string): KeyRefusal =>
  new KeyRefusal(
    403,
    `preflight capability check returned 403, please ensure client's policies grant access to path "${asked}"`,
  );

const done: KeyAnswer = { status: 204 };

/** Wraps, unwraps and manages keys. @throws KeyRefusal */
function answerTransit({ mounts }: KeyServerState, { method, path, body }: DevKeyRequest): KeyAnswer {
  const { mount, rest } = mounts.resolve(path);
  const [area, name = '', action, ...more] = rest;
  if (name === '' || more.length > 0) throw noSuchPath();
  const route = `${method === 'PUT' ? 'POST' : method} ${area}${action === undefined ? '' : `/${action}`}`;
  switch (route) {
    case 'POST encrypt':
      return runTransit(encrypt, mounts.key(mount, name), body);
    case 'POST decrypt':
      return runTransit(decrypt, mounts.key(mount, name), body);
    case 'GET keys':
      return describe(mounts.find(mount, name), name);
    case 'POST keys':
      return describe(mounts.create(mount, name), name);
    case 'POST keys/rotate':
      mounts.change(mount, name, (key) => key.rotate());
      return done;
    case 'POST keys/config':
      mounts.change(mount, name, (key) =>
        key.setMinDecryptionVersion(Number(body['min_decryption_version'])),
      );
      return done;
    default:
      throw noSuchPath();
  }
}

function describe(key: TransitKey | undefined, name: string): KeyAnswer {
  if (key === undefined) throw new KeyRefusal(404, 'no such key');
  const versions = Array.from({ length: key.latest }, (_, index) => [index + 1, key.created]);
  const data = {
    name,
    type: 'aes256-gcm96',
    latest_version: key.latest,
    min_decryption_version: key.minDecryptionVersion,
    keys: Object.fromEntries(versions),
  };
  return { status: 200, body: { data } };
}

type Item = Readonly<Record<string, unknown>>;
type Operation = (key: TransitKey, item: Item) => Record<string, unknown>;

export interface DevTransitAnswer {
  readonly status: number;
  readonly body: { readonly data: unknown };
}

/** One item, or a batch as `batch_input`; a batch with a bad item gets status 400 and the results of the good ones. */
function runTransit(operation: Operation, key: TransitKey, body: Item): DevTransitAnswer {
  const { batch_input: batch } = body;
  if (batch === undefined) return { status: 200, body: { data: operation(key, body) } };
  if (!Array.isArray(batch) || batch.length === 0)
    throw new KeyRefusal(400, 'missing batch input to process');
  const results = batch.map((item) => tried(operation, key, item));
  const status = results.some((result) => 'error' in result) ? 400 : 200;
  return { status, body: { data: { batch_results: results } } };
}

function tried(operation: Operation, key: TransitKey, item: unknown): Record<string, unknown> {
  try {
    return operation(key, isRecord(item) ? item : {});
  } catch (error) {
    if (error instanceof KeyRefusal) return { error: error.message };
    throw error;
  }
}

const encrypt: Operation = (key, item) => {
  const plaintext = bytes(item['plaintext'], 'plaintext');
  if (plaintext === undefined) throw new KeyRefusal(400, 'missing plaintext to encrypt');
  try {
    return { ciphertext: key.encrypt(plaintext, associatedData(item)), key_version: key.latest };
  } finally {
    plaintext.fill(0);
  }
};

const decrypt: Operation = (key, item) => {
  const { ciphertext } = item;
  if (typeof ciphertext !== 'string' || ciphertext === '')
    throw new KeyRefusal(400, 'missing ciphertext to decrypt');
  const plaintext = key.decrypt(ciphertext, associatedData(item));
  try {
    return { plaintext: plaintext.toString('base64') };
  } finally {
    plaintext.fill(0);
  }
};

const associatedData = (item: Item): Buffer =>
  bytes(item['associated_data'], 'associated_data') ?? Buffer.alloc(0);

function bytes(value: unknown, name: string): Buffer | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !isCanonicalBase64(value))
    throw new KeyRefusal(400, `failed to base64-decode ${name}`);
  return Buffer.from(value, 'base64');
}

/** Issues, renews and looks up tokens. @throws KeyRefusal */
function answerToken({ tokens }: KeyServerState, { method, path, body, token }: DevKeyRequest): KeyAnswer {
  switch (`${method === 'PUT' ? 'POST' : method} ${path}`) {
    case 'GET auth/token/lookup-self':
      return { status: 200, body: { data: lookedUp(token) } };
    case 'POST auth/token/renew-self':
      return granted(tokens.renew(token, seconds(body['increment'])));
    case 'POST auth/token/create': {
      const { policies, ttl, renewable } = body;
      return granted(tokens.create(policyNames(policies), seconds(ttl), renewable !== false));
    }
    case 'POST auth/token/revoke':
      tokens.revoke(String(body['token'] ?? ''));
      return { status: 204 };
    default:
      throw noSuchPath();
  }
}

function policyNames(value: unknown): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new KeyRefusal(400, 'policies must be a list of names');
}

/** Seconds as a number or digits, or a Go duration; undefined if none are given. */
function seconds(value: unknown): number | undefined {
  const text = String(value ?? '');
  const span = /^\d+$/.test(text) ? Number(text) : text === '' ? 0 : Math.floor(duration(text) / 1000);
  return span > 0 ? span : undefined;
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new KeyRefusal(400, 'time: invalid duration');
    throw error;
  }
}

const shown = ({ policies }: Token) => ({ policies: policies ?? ['root'] });

function lookedUp(token: Token) {
  const { id, lease } = token;
  return {
    ...shown(token),
    id,
    ttl: remainingSeconds(token) ?? 0,
    creation_ttl: lease?.seconds ?? 0,
    expire_time: lease ? new Date(lease.endsAt).toISOString() : null,
    renewable: lease?.renewable ?? false,
  };
}

function granted(token: Token): KeyAnswer {
  const { id, lease } = token;
  const lasts = { lease_duration: remainingSeconds(token) ?? 0, renewable: lease?.renewable ?? false };
  return { status: 200, body: { auth: { ...shown(token), client_token: id, ...lasts } } };
}
