import { randomBytes } from 'node:crypto';
import type { HttpResult, OpenBao } from './types.ts';

type Values = Readonly<Record<string, unknown>>;

export interface KvStore {
  /** KV version 2, mounted at `secret`. */
  put(path: string, data: Values): Promise<void>;
  /** KV version 1, mounted at `kv1`. */
  putV1(path: string, data: Values): Promise<void>;
  /** A policy that may read below both mounts, look up and renew itself. */
  readonly policy: string;
  /** A token with that policy. */
  token(options?: {
    readonly ttl?: string;
    readonly period?: string;
    readonly maxTtl?: string;
  }): Promise<string>;
}

const RULES = ['secret/data/*', 'kv1/*'].map((path) => `path "${path}" { capabilities = ["read"] }`);
const SELF = [
  'path "auth/token/renew-self" { capabilities = ["update"] }',
  'path "auth/token/lookup-self" { capabilities = ["read"] }',
  'path "sys/internal/ui/mounts/*" { capabilities = ["read"] }',
];

/** Key-value mounts of both versions and a policy for an application. */
export async function kvStore(bao: OpenBao): Promise<KvStore> {
  const must = async (method: string, path: string, body: unknown): Promise<HttpResult> => {
    const answer = await bao.request(method, path, body);
    if (answer.status >= 300) throw new Error(`OpenBao: ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const policy = `kv-${randomBytes(6).toString('hex')}`;
  await must('POST', 'sys/mounts/kv1', { type: 'kv', options: { version: '1' } });
  await must('PUT', `sys/policies/acl/${policy}`, { policy: [...RULES, ...SELF].join('\n') });
  return {
    policy,
    put: async (path, data) => void (await must('POST', `secret/data/${path}`, { data })),
    putV1: async (path, data) => void (await must('POST', `kv1/${path}`, data)),
    async token({ ttl = '1h', period, maxTtl } = {}) {
      const body = { policies: [policy], no_default_policy: true, ttl, period, explicit_max_ttl: maxTtl };
      return (await must('POST', 'auth/token/create', body)).json.auth.client_token;
    },
  };
}
