import { noSuchPath, Refusal } from './refusal.ts';
import type { Token, Tokens } from './tokens.ts';
import type { TransitKey } from './transit-key.ts';
import type { TransitMounts } from './transit-mounts.ts';
import { decrypt, encrypt, runTransit } from './transit-operations.ts';

export interface KeyServerState {
  readonly tokens: Tokens;
  readonly mounts: TransitMounts;
}

export interface KeyRequest {
  readonly method: string;
  /** Below `/v1/`, as on the wire. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly token: Token;
}

export interface KeyAnswer {
  readonly status: number;
  readonly body?: unknown;
}

const done: KeyAnswer = { status: 204 };

/** Answers an authorized request. @throws Refusal */
export function answerKeyRequest(state: KeyServerState, request: KeyRequest): KeyAnswer {
  if (request.path.startsWith('sys/')) return system(state, request);
  if (request.path.startsWith('auth/token/')) return tokens(state, request);
  return transit(state, request);
}

function system({ tokens, mounts }: KeyServerState, { method, path, body }: KeyRequest): KeyAnswer {
  if (path === 'sys/mounts' && method === 'GET') return { status: 200, body: mountList(mounts.names()) };
  const [, kind, name] = /^sys\/(mounts|policies\/acl)\/(.+)$/.exec(path) ?? [];
  if (name === undefined || (method !== 'POST' && method !== 'PUT')) throw noSuchPath();
  if (kind === 'mounts') mountEngine(mounts, name, body['type']);
  else tokens.writePolicy(name, String(body['policy'] ?? ''));
  return done;
}

function mountList(names: readonly string[]): unknown {
  const data = Object.fromEntries(names.map((name) => [`${name}/`, { type: 'transit' }]));
  return { ...data, data };
}

function mountEngine(mounts: TransitMounts, name: string, type: unknown): void {
  if (type !== 'transit') throw new Refusal(400, 'plugin not found in the catalog: only transit is here');
  mounts.mount(name.replace(/\/+$/, ''));
}

function tokens({ tokens }: KeyServerState, { method, path, body, token }: KeyRequest): KeyAnswer {
  switch (`${method} ${path}`) {
    case 'GET auth/token/lookup-self':
      return {
        status: 200,
        body: { data: { ...shown(token), ttl: 0, expire_time: null, renewable: false } },
      };
    case 'POST auth/token/create':
      return created(tokens.create(policyNames(body['policies'])));
    case 'POST auth/token/revoke':
      tokens.revoke(String(body['token'] ?? ''));
      return done;
    default:
      throw noSuchPath();
  }
}

function policyNames(value: unknown): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new Refusal(400, 'policies must be a list of names');
}

const shown = ({ policies }: Token) => ({ policies: policies ?? ['root'] });

const created = (token: Token): KeyAnswer => ({
  status: 200,
  body: { auth: { ...shown(token), client_token: token.id, lease_duration: 0, renewable: false } },
});

function transit({ mounts }: KeyServerState, { method, path, body }: KeyRequest): KeyAnswer {
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
  if (key === undefined) throw new Refusal(404, 'no such key');
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
