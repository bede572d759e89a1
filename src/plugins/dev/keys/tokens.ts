import { randomBytes } from 'node:crypto';
import { type Capability, type Policy, parsePolicy, permits, reaches } from './policy.ts';
import { outsidePolicy, Refusal, unknownToken } from './refusal.ts';

/** A token in force; `policies` undefined: root. */
export interface Token {
  readonly id: string;
  readonly policies: readonly string[] | undefined;
  /** Undefined: it has no end. */
  readonly lease: Lease | undefined;
}

export interface Lease {
  /** Of a new token, and after each renewal that does not ask for another span. */
  readonly seconds: number;
  readonly renewable: boolean;
  /** As `Date.now()` counts. */
  readonly endsAt: number;
}

/** Tokens and policies, in memory only. */
export class Tokens {
  readonly root: string = newToken();
  readonly #policies = new Map<string, Policy>();
  readonly #tokens = new Map<string, Token>([
    [this.root, { id: this.root, policies: undefined, lease: undefined }],
  ]);

  writePolicy(name: string, text: string): void {
    this.#policies.set(name, parsePolicy(text));
  }

  /** @param seconds undefined for a token without an end */
  create(policies: readonly string[], seconds?: number, renewable = true): Token {
    const lease = seconds === undefined ? undefined : leaseFor(seconds, renewable);
    return this.#keep({ id: newToken(), policies, lease });
  }

  revoke(id: string): void {
    if (id === this.root) throw new Refusal(400, 'the root token of svc dev stays');
    this.#tokens.delete(id);
  }

  /** @throws Refusal 400 for a token that cannot be renewed */
  renew({ id, policies, lease }: Token, seconds = lease?.seconds): Token {
    if (lease === undefined || seconds === undefined || !lease.renewable)
      throw new Refusal(400, 'lease is not renewable');
    return this.#keep({ id, policies, lease: { ...leaseFor(seconds, true), seconds: lease.seconds } });
  }

  /** @throws Refusal 403 for a token that is unknown or over */
  known(id: string | undefined): Token {
    const token = this.#tokens.get(id ?? '');
    if (token === undefined || remainingSeconds(token) === 0) throw unknownToken();
    return token;
  }

  /** @throws Refusal 403 where the token's policies do not allow the path */
  authorize(token: Token, capability: Capability | undefined, path: string): void {
    if (token.policies !== undefined && !permits(this.#held(token), capability, path)) throw outsidePolicy();
  }

  /** Whether the token may do anything below the mount. */
  mayReach(token: Token, mount: string): boolean {
    return token.policies === undefined || reaches(this.#held(token), mount);
  }

  #held({ policies = [] }: Token): Policy[] {
    return policies.flatMap((name) => this.#policies.get(name) ?? []);
  }

  #keep(token: Token): Token {
    this.#tokens.set(token.id, token);
    return token;
  }
}

/** Whole seconds until it ends; undefined for a token without an end. */
export function remainingSeconds({ lease }: Token): number | undefined {
  return lease === undefined ? undefined : Math.max(0, Math.ceil((lease.endsAt - Date.now()) / 1000));
}

const leaseFor = (seconds: number, renewable: boolean): Lease => ({
  seconds,
  renewable,
  endsAt: Date.now() + seconds * 1000,
});

const newToken = (): string => `s.${randomBytes(18).toString('base64url')}`;
