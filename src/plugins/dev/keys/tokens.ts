import { randomBytes } from 'node:crypto';
import { type Policy, parsePolicy, permits } from './policy.ts';
import { outsidePolicy, Refusal, unknownToken } from './refusal.ts';

/** A token in force; `policies` undefined: root. */
export interface Token {
  readonly id: string;
  readonly policies: readonly string[] | undefined;
}

/** Tokens and policies, in memory only; tokens do not expire. */
export class Tokens {
  readonly root: string = newToken();
  readonly #policies = new Map<string, Policy>();
  readonly #tokens = new Map<string, Token>([[this.root, { id: this.root, policies: undefined }]]);

  writePolicy(name: string, text: string): void {
    this.#policies.set(name, parsePolicy(text));
  }

  create(policies: readonly string[]): Token {
    const token = { id: newToken(), policies };
    this.#tokens.set(token.id, token);
    return token;
  }

  revoke(id: string): void {
    if (id === this.root) throw new Refusal(400, 'the root token of svc dev stays');
    this.#tokens.delete(id);
  }

  /** @throws Refusal 403 for an unknown token, and for one whose policies do not allow the path */
  authorize(id: string | undefined, method: string, path: string): Token {
    const token = this.#tokens.get(id ?? '');
    if (token === undefined) throw unknownToken();
    if (token.policies === undefined) return token;
    const held = token.policies.flatMap((name) => this.#policies.get(name) ?? []);
    if (!permits(held, method, path)) throw outsidePolicy();
    return token;
  }
}

const newToken = (): string => `s.${randomBytes(18).toString('base64url')}`;
