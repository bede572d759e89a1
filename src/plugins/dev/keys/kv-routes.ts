import { isRecord } from '../../../keyserver/answers.ts';
import { KeyRefusal, noSuchPath, nothingThere, unsupported } from './access.ts';
import type { DevKeyRequest, KeyAnswer, KeyServerState } from './exchange.ts';
import { isBelowKv, type KvFields, type KvStore, kvMount } from './kv-store.ts';

const done: KeyAnswer = { status: 204 };
const ok = (data: unknown): KeyAnswer => ({ status: 200, body: { data } });

/** Whether a write to the path creates a secret, which needs `create` instead of `update`. */
export function isNewSecret(secrets: KvStore, path: string): boolean {
  if (!isBelowKv(path)) return false;
  const { area, name } = partsOf(path);
  return area === 'data' && secrets.find(name) === undefined;
}

/** KV version 2: versions of secrets, and listings. @throws KeyRefusal */
export function answerKv({ secrets }: KeyServerState, request: DevKeyRequest): KeyAnswer {
  const { area, name } = partsOf(request.path);
  if (area === 'data') return data(secrets, name, request);
  if (area === 'metadata') return metadata(secrets, name, request);
  throw noSuchPath();
}

function partsOf(path: string): { readonly area: string; readonly name: string } {
  const [area = '', ...segments] = path
    .slice(kvMount.length + 1)
    .split('/')
    .map(decodeURIComponent);
  return { area, name: segments.join('/') };
}

function data(secrets: KvStore, name: string, { method, query, body }: DevKeyRequest): KeyAnswer {
  switch (method) {
    case 'GET':
      return read(secrets, name, query.get('version') ?? '0');
    case 'POST':
    case 'PUT':
      return write(secrets, name, body);
    case 'DELETE':
      secrets.find(name)?.deleteCurrent();
      return done;
    default:
      throw unsupported();
  }
}

/** A deleted version is a 404 with metadata that says so. */
function read(secrets: KvStore, name: string, version: string): KeyAnswer {
  if (!/^\d{1,9}$/.test(version))
    throw new KeyRefusal(400, 'Field validation failed: "version" is no number');
  const found = secrets.find(name)?.read(Number(version));
  if (found === undefined) throw nothingThere();
  const { fields, metadata } = found;
  return { status: metadata.deletion_time === '' ? 200 : 404, body: { data: { data: fields, metadata } } };
}

function write(secrets: KvStore, name: string, body: DevKeyRequest['body']): KeyAnswer {
  if (name === '' || name.endsWith('/')) throw new KeyRefusal(400, "cannot write to a path ending in '/'");
  const fields = fieldsIn(body);
  const options = isRecord(body['options']) ? body['options'] : {};
  const expected = options['cas'] === undefined ? undefined : Number(options['cas']);
  return ok(secrets.change(name, (secret) => secret.write(fields, expected)));
}

function fieldsIn({ data }: DevKeyRequest['body']): KvFields {
  if (data === undefined) throw new KeyRefusal(400, 'no data provided');
  if (data === null || isRecord(data)) return data;
  throw new KeyRefusal(400, 'error converting input for field "data": expected an object');
}

function metadata(secrets: KvStore, name: string, { method, query }: DevKeyRequest): KeyAnswer {
  if (method === 'DELETE') {
    secrets.remove(name);
    return done;
  }
  if (method !== 'GET') throw unsupported();
  if (query.get('list') === 'true') return list(secrets, name);
  const secret = secrets.find(name);
  if (secret === undefined) throw nothingThere();
  return ok(secret.describe());
}

function list(secrets: KvStore, folder: string): KeyAnswer {
  const keys = secrets.list(folder.replace(/\/+$/, ''));
  if (keys.length === 0) throw nothingThere();
  return ok({ keys });
}
