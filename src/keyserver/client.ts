import { Budget } from '../runtime/bounds/budget.ts';
import { retry, within } from '../runtime/lifecycle/wait.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { createWipedMemory } from '../runtime/memory.ts';
import { mayRetryStatus, namesDeadToken, serverErrors } from './answers.ts';
import { byteServer } from './byte-server.ts';
import { tellSkipped, vaultConnection } from './connection.ts';
import {
  failureOf,
  type KeyRequest,
  mayPass,
  retryAfterOf,
  tooBusy,
  type VaultClient,
  type VaultRequest,
  type VaultResponse,
  type VaultTransport,
} from './contract.ts';
import { KeptToken } from './kept-token.ts';
import { createLeanTransport } from './lean-transport.ts';
import { type HeldToken, Session, type SessionState } from './session.ts';
import type { VaultConfig } from './settings.ts';

export interface VaultClientOptions {
  /** Which names itself to the server: `proxy`. */
  readonly component: string;
  readonly config: VaultConfig;
  readonly log: Logger;
  /** Called when a token becomes available or unavailable. */
  readonly onState: (state: SessionState) => void;
  /** Default: the lean transport. Closed together with the client. */
  readonly transport?: VaultTransport;
  readonly limits?: Partial<RequestLimits>;
}

export interface RequestLimits {
  /** Milliseconds for one request with all its attempts. */
  readonly deadlineMs: number;
  readonly attempts: number;
  /** Maximum number of requests in flight; further ones wait. */
  readonly concurrency: number;
}

export const requestLimits: RequestLimits = { deadlineMs: 8_000, attempts: 5, concurrency: 64 };

/** A client that also returns refusals, for callers that interpret them. */
export interface ExchangingVaultClient extends VaultClient {
  /**
   * Resolves with any status except 403 and those that may pass, such as 429 and 5xx.
   * @throws VaultError of kind `denied` or `unavailable`; the signal's reason when aborted
   */
  exchange(request: KeyRequest): Promise<VaultResponse>;
}

/** @throws SvcError (exit 78) for unusable TLS files */
export function createVaultClient(options: VaultClientOptions): ExchangingVaultClient {
  const { component, config, log, onState } = options;
  const { endpoint } = config;
  if (endpoint.skipVerify && endpoint.url.protocol === 'https:') {
    log.warn('vault.tls.unverified', { address: endpoint.url.host, variable: 'VAULT_SKIP_VERIFY' });
  }
  const transport =
    options.transport ??
    createLeanTransport({ ...vaultConnection(config, component), onSkipped: tellSkipped(log) });
  const { auth } = config;
  const kept = new KeptToken({ auth, server: byteServer(transport), memory: createWipedMemory() });
  const session = new Session({ method: auth.method, kept, log, onState });
  return new Client(transport, session, { ...requestLimits, ...options.limits });
}

class Client implements ExchangingVaultClient {
  readonly #transport: VaultTransport;
  readonly #session: Session;
  readonly #limits: RequestLimits;
  readonly #gate: Gate;

  constructor(transport: VaultTransport, session: Session, limits: RequestLimits) {
    this.#transport = transport;
    this.#session = session;
    this.#limits = limits;
    this.#gate = new Gate(limits.concurrency);
  }

  start(): Promise<void> {
    return this.#session.start();
  }

  async close(): Promise<void> {
    this.#session.close();
    this.#transport.close();
  }

  async request(request: VaultRequest): Promise<unknown> {
    const response = await this.exchange(request);
    if (response.status >= 300) throw failureOf(request, response);
    return response.body;
  }

  async exchange(request: KeyRequest): Promise<VaultResponse> {
    const deadline = performance.now() + this.#limits.deadlineMs;
    const leave = await this.#gate.enter(deadline, request.signal);
    try {
      return await this.#repeated(request, deadline);
    } finally {
      leave();
    }
  }

  #repeated(request: KeyRequest, deadline: number): Promise<VaultResponse> {
    return retry(() => this.#authorized(request, deadline), {
      initialMs: 100,
      maxMs: 2_000,
      maxAttempts: this.#limits.attempts,
      maxElapsedMs: deadline - performance.now(),
      isRetryable: mayPass,
      leastMs: retryAfterOf,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
  }

  /** After a refusal, logs in and tries once more if the session expects that to help. */
  async #authorized(request: KeyRequest, deadline: number): Promise<VaultResponse> {
    const token = await this.#token(request, deadline);
    const response = await this.#send(request, token, deadline);
    const errors = serverErrors(response.body);
    if (response.status !== 403 || errors.length === 0) return settled(request, response);
    const certain = namesDeadToken(errors);
    const replaced = await this.#session.replace(token, certain, deadline, request.signal);
    if (!replaced) throw failureOf(request, response);
    const other = await this.#token(request, deadline);
    return settled(request, await this.#send(request, other, deadline));
  }

  async #token(request: VaultRequest, deadline: number): Promise<HeldToken> {
    return this.#session.held ?? this.#session.token(deadline, request.signal);
  }

  /** Each attempt gets half of the remaining time, so that a dead connection leaves time for another attempt. */
  #send(request: KeyRequest, token: HeldToken, deadline: number): Promise<VaultResponse> {
    const left = deadline - performance.now();
    const timeoutMs = Math.max(1, Math.min(left, Math.max(1_000, left / 2)));
    return this.#transport.send({ ...request, token: token.value, timeoutMs });
  }
}

function settled(request: VaultRequest, response: VaultResponse): VaultResponse {
  if (response.status === 403 || mayRetryStatus(response.status)) throw failureOf(request, response);
  return response;
}

/** A semaphore; those above the limit wait in order. */
export class Gate {
  readonly #places: Budget;

  constructor(places: number) {
    this.#places = new Budget(places);
  }

  /**
   * Resolves at once if there is room.
   * @returns a function that releases the place
   * @throws VaultError of kind `unavailable` at the deadline; the signal's reason when aborted
   */
  async enter(deadline: number, signal: AbortSignal | undefined): Promise<() => void> {
    const place = this.#places.ask(1);
    try {
      if (place.waits) await within(place.granted, deadline, signal, tooBusy);
    } catch (error) {
      // the place may have been granted at the same moment, and then passes to the next
      if (!place.giveUp()) place.release();
      throw error;
    }
    return () => place.release();
  }
}
