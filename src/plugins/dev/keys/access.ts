import { randomBytes } from 'node:crypto';

/** A token; `policies` is undefined for root. */
export interface Token {
  readonly id: string;
  readonly policies: readonly string[] | undefined;
  /** Undefined for a token without an end. */
  readonly lease: DevLease | undefined;
}

export interface DevLease {
  /** Lifetime of a new token, and after renewals that do not ask for another one. */
  readonly seconds: number;
  readonly renewable: boolean;
  /** On the clock of `Date.now()`. */
  readonly endsAt: number;
}

const newToken = (): string => `s.${randomBytes(18).toString('base64url')}`;

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
    if (id === this.root) throw new KeyRefusal(400, 'the root token of svc dev stays');
    this.#tokens.delete(id);
  }

  /** @throws KeyRefusal 400 for a token that cannot be renewed */
  renew({ id, policies, lease }: Token, seconds = lease?.seconds): Token {
    if (lease === undefined || seconds === undefined || !lease.renewable)
      throw new KeyRefusal(400, 'lease is not renewable');
    return this.#keep({ id, policies, lease: { ...leaseFor(seconds, true), seconds: lease.seconds } });
  }

  /** @throws KeyRefusal 403 for a token that is unknown or expired */
  known(id: string | undefined): Token {
    const token = this.#tokens.get(id ?? '');
    if (token === undefined || remainingSeconds(token) === 0) throw unknownToken();
    return token;
  }

  /** @throws KeyRefusal 403 if the token's policies do not allow the path */
  authorize(token: Token, capability: DevCapability | undefined, path: string): void {
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

const leaseFor = (seconds: number, renewable: boolean): DevLease => ({
  seconds,
  renewable,
  endsAt: Date.now() + seconds * 1000,
});

/** What a token may do: capabilities by exact path. */
type Policy = ReadonlyMap<string, ReadonlySet<string>>;

const rule = /\s*path\s+"([^"*+]+)"\s*\{\s*capabilities\s*=\s*\[([^\]]*)\]\s*\}/y;

/** Policies of exact paths with `capabilities`, which is all that svc needs. @throws KeyRefusal for anything else */
function parsePolicy(text: string): Policy {
  const policy = new Map<string, Set<string>>();
  let end = 0;
  rule.lastIndex = 0;
  for (let match = rule.exec(text); match; match = rule.exec(text)) {
    const [, path = '', list = ''] = match;
    policy.set(path, new Set(Array.from(list.matchAll(/"([a-z]+)"/g), ([, name = '']) => name)));
    end = rule.lastIndex;
  }
  if (text.slice(end).trim() !== '')
    throw new KeyRefusal(400, 'failed to parse policy: only exact paths with capabilities are known here');
  return policy;
}

export type DevCapability = 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch';

const capabilities: Readonly<Record<string, DevCapability>> = {
  GET: 'read',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The capability that a method needs, except for lists and for writes of something new. */
export const capabilityFor = (method: string): DevCapability | undefined => capabilities[method];

function permits(policies: readonly Policy[], capability: DevCapability | undefined, path: string): boolean {
  return capability !== undefined && policies.some((policy) => policy.get(path)?.has(capability));
}

/** Whether they allow anything below the mount. */
function reaches(policies: readonly Policy[], mount: string): boolean {
  return policies.some((policy) => [...policy.keys()].some((path) => path.startsWith(`${mount}/`)));
}

/** An error response of the key server, with the messages of Vault and OpenBao. */
export class KeyRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  /** @param message '' for a response without a message */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The server does not know the token. */
const unknownToken = (): KeyRefusal => new KeyRefusal(403, 'permission denied');

/** The token's policies do not allow the path. */
const outsidePolicy = (): KeyRefusal => new KeyRefusal(403, '1 error occurred:\n\t* permission denied\n\n');

export const noSuchPath = (): KeyRefusal => new KeyRefusal(404, 'no handler for route');

/** The engine exists, but nothing at this path. */
export const nothingThere = (): KeyRefusal => new KeyRefusal(404, '');

export const unsupported = (): KeyRefusal =>
  new KeyRefusal(405, '1 error occurred:\n\t* unsupported operation\n\n');
