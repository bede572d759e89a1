import { closeSync, openSync, readSync } from 'node:fs';
import { decodeString } from '../../../core/json-document.ts';
import { escapedRuns, JsonView } from '../../../core/json-view.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { namesDeadToken } from '../../../core/vault/transit-messages.ts';
import type { SecretMemory } from '../../native/secret-memory.ts';
import { loginRefusal, unusableTokenFile } from '../auth.ts';
import { VaultError } from '../contract.ts';
import type { VaultAuth } from '../settings.ts';
import {
  deadToken,
  type KeyServer,
  type Lease,
  type Question,
  type RenewedLease,
  type Reply,
  refusalOf,
  wordsOf,
} from './contract.ts';
import { SecretBuffer } from './secret-socket.ts';

/** A token that the key server has just handed out. */
export interface Grant extends RenewedLease {
  readonly token: TokenBytes;
}

export type KubernetesAuth = Extract<VaultAuth, { method: 'kubernetes' }>;

const lookupPath = 'auth/token/lookup-self';
const renewPath = 'auth/token/renew-self';

/** Exchanges the service account's token, read anew each time because the kubelet replaces it. */
export async function logInByServiceAccount(
  server: KeyServer,
  { role, mountPath, serviceAccountTokenPath }: KubernetesAuth,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<Grant> {
  const jwt = readTokenBytes(serviceAccountTokenPath, 'service account token', memory);
  const path = vaultPath(mountPath, 'login');
  const start = Buffer.from(`{"role":${JSON.stringify(role)},"jwt":"`);
  try {
    const body = [start, ...escapedRuns(jwt.bytes), Buffer.from('"}')];
    return await server.ask({ method: 'POST', path, body }, signal, (reply) => {
      if (reply.status === 200) return grantFrom(reply, path, memory);
      const errors = wordsOf(reply, jwt.bytes);
      throw loginRefusal(path, role, { status: reply.status, body: { errors } });
    });
  } finally {
    jwt.release();
  }
}

/**
 * Looks a token up. A policy may forbid that, and then its end stays unknown until a renewal tells it.
 * @throws VaultError of kind `denied` where the key server does not know the token
 */
export function lookUp(server: KeyServer, token: () => Uint8Array, signal: AbortSignal): Promise<Lease> {
  const question: Question = { method: 'GET', path: lookupPath, token };
  return server.ask(question, signal, (reply) => {
    if (reply.status === 200) return lifetimeFrom(new JsonView(reply.body.bytes));
    const errors = wordsOf(reply, token());
    if (reply.status !== 403) throw refusalOf(question, reply.status, errors);
    if (namesDeadToken(errors)) throw deadToken(reply.status, lookupPath);
    return { leaseSeconds: undefined, renewable: true };
  });
}

/** `ttl` counts whole seconds, 0 for a token without an end, which has no `expire_time` either. */
function lifetimeFrom(view: JsonView): Lease {
  const seconds = view.number('data', 'ttl') ?? 0;
  const ends = view.at('data', 'expire_time')?.kind === 'string';
  return { leaseSeconds: ends ? Math.max(1, seconds) : seconds, renewable: view.isTrue('data', 'renewable') };
}

/** @throws VaultError: `denied` where the policy does not permit it, `rejected` where the token cannot be renewed */
export function renewToken(
  server: KeyServer,
  token: () => Uint8Array,
  memory: SecretMemory,
  signal: AbortSignal,
): Promise<Grant> {
  const question: Question = { method: 'POST', path: renewPath, body: [Buffer.from('{}')], token };
  return server.ask(question, signal, (reply) => {
    if (reply.status === 200) return grantFrom(reply, renewPath, memory);
    throw refusalOf(question, reply.status, wordsOf(reply, token()));
  });
}

/** The token is decoded in its place and copied into memory of its own. */
function grantFrom({ body: { bytes } }: Reply, path: string, memory: SecretMemory): Grant {
  const view = new JsonView(bytes);
  const found = view.at('auth', 'client_token');
  const leaseSeconds = view.number('auth', 'lease_duration');
  const renewable = view.isTrue('auth', 'renewable');
  if (found?.kind !== 'string' || leaseSeconds === undefined) throw withoutToken(path);
  const place = bytes.subarray(found.start);
  const token = tokenFrom(place.subarray(0, decodeString(bytes, found.start, found.end, place)), memory);
  if (token.fault === undefined) return { token, leaseSeconds, renewable };
  token.release();
  throw withoutToken(path);
}

const withoutToken = (path: string): VaultError =>
  new VaultError('unavailable', `The key server answered ${path} without a token`, { path });

const maxTokenBytes = 64 * 1024;

/** Secret memory that can be given up: a Region or a SecretBuffer. */
interface Holder {
  readonly bytes: Buffer;
  release(): void;
}

/** A token or JWT in secret memory, without the white space around it. */
export class TokenBytes {
  readonly #holder: Holder;
  readonly #start: number;
  readonly #end: number;

  /** The holder is released with this. */
  constructor(holder: Holder) {
    const { bytes } = holder;
    let start = 0;
    let end = bytes.length;
    while (start < end && isBlank(bytes[start])) start++;
    while (end > start && isBlank(bytes[end - 1])) end--;
    this.#holder = holder;
    this.#start = start;
    this.#end = end;
  }

  /** In place. */
  get bytes(): Buffer {
    return this.#holder.bytes.subarray(this.#start, this.#end);
  }

  /** Why it cannot be a token, or undefined. */
  get fault(): string | undefined {
    if (this.#start === this.#end) return 'is empty';
    return this.bytes.every((byte) => byte > 0x20 && byte < 0x7f) ? undefined : 'holds something else';
  }

  release(): void {
    this.#holder.release();
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13);

/** @param bytes are copied */
export function tokenFrom(bytes: Uint8Array, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  buffer.append(bytes);
  return new TokenBytes(buffer);
}

/**
 * Reads a token from a file straight into secret memory.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
export function readTokenBytes(path: string, what: string, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  try {
    readInto(buffer, path);
  } catch (error) {
    buffer.release();
    const { code } = error as NodeJS.ErrnoException;
    throw unusableTokenFile(what, path, `cannot be read (${code})`, error);
  }
  const token = new TokenBytes(buffer);
  const { fault } = token;
  if (fault === undefined) return token;
  token.release();
  throw unusableTokenFile(what, path, fault);
}

function readInto(buffer: SecretBuffer, path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    while (buffer.appendFrom((into) => readSync(descriptor, into)) > 0) {
      if (buffer.bytes.length > maxTokenBytes) throw Object.assign(new Error(), { code: 'EFBIG' });
    }
  } finally {
    closeSync(descriptor);
  }
}
