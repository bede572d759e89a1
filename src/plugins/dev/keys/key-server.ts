import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord } from '../../../keyserver/answers.ts';
import { isEncodedPath } from '../../../keyserver/path.ts';
import { parseBounded } from '../../../runtime/bounds/bounded-json.ts';
import { collect } from '../../../runtime/bounds/collect.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { type LoopbackServer, serveOnLoopback } from '../listen.ts';
import { KeyRefusal, noSuchPath, Tokens } from './access.ts';
import type { KeyAnswer, KeyServerState } from './exchange.ts';
import { KvStore } from './kv-store.ts';
import { answerKeyRequest } from './routes.ts';
import { type KeyFile, TransitMounts } from './transit-keys.ts';

export interface KeyServer extends LoopbackServer {
  readonly rootToken: string;
}

const bodyLimit = 32 * 1024 * 1024;
/** As OpenBao reports an active, unsealed server. */
const health = { initialized: true, sealed: false, standby: false };

/**
 * The part of Vault's API that svc uses, for development: transit with real AES-256-GCM, KV version 2 at `secret/`,
 * mounts, policies of exact paths, tokens. `file` keeps the keys, in the clear; the rest is in memory.
 */
export async function startKeyServer(file: KeyFile, log: Logger): Promise<KeyServer> {
  const state: KeyServerState = {
    tokens: new Tokens(),
    mounts: new TransitMounts(file),
    secrets: new KvStore(),
  };
  const server = await serveOnLoopback((request, response) => void serve(state, request, response, log));
  return { ...server, rootToken: state.tokens.root };
}

async function serve(
  state: KeyServerState,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  const { status, body } = await answer(state, request).catch((error) => refused(error, log));
  const text = body === undefined ? undefined : `${JSON.stringify(body)}\n`;
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
}

async function answer(state: KeyServerState, request: IncomingMessage): Promise<KeyAnswer> {
  const { method = '', headers } = request;
  const { path, query } = addressOf(request);
  if (path === 'sys/health') return { status: 200, body: health };
  const body = await readJson(request);
  return answerKeyRequest(state, single(headers['x-vault-token']), { method, path, query, body });
}

function addressOf({ url = '' }: IncomingMessage): {
  readonly path: string;
  readonly query: URLSearchParams;
} {
  const [, path, query] = /^\/v1\/([^?#]+)(?:\?(.*))?$/.exec(url) ?? [];
  if (path === undefined || !isEncodedPath(path) || !isUtf8(path)) throw noSuchPath();
  return { path, query: new URLSearchParams(query) };
}

function isUtf8(encoded: string): boolean {
  try {
    return decodeURIComponent(encoded) !== '';
  } catch {
    return false;
  }
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const body = await collect(request, bodyLimit, () => new KeyRefusal(413, 'http: request body too large'));
  return body.length === 0 ? {} : parse(body);
}

function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value = parseBounded(body, { maxParts: 200_000 });
    if (isRecord(value)) return value;
  } catch {
    // The parser's message is dropped: it would repeat the text, which may contain a key.
  }
  throw new KeyRefusal(400, 'error parsing JSON');
}

function refused(error: unknown, log: Logger): KeyAnswer {
  if (error instanceof KeyRefusal) {
    return { status: error.status, body: { errors: error.message === '' ? [] : [error.message] } };
  }
  log.error('dev.keys.broke', describeError(error));
  return { status: 500, body: { errors: ['internal error'] } };
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;
