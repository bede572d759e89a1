import type { Token, Tokens } from './access.ts';
import type { KvStore } from './kv-store.ts';
import type { TransitMounts } from './transit-keys.ts';

export interface KeyServerState {
  readonly tokens: Tokens;
  readonly mounts: TransitMounts;
  readonly secrets: KvStore;
}

export interface UnauthorizedRequest {
  readonly method: string;
  /** Below `/v1/`, as on the wire. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface DevKeyRequest extends UnauthorizedRequest {
  readonly token: Token;
}

export interface KeyAnswer {
  readonly status: number;
  readonly body?: unknown;
}
