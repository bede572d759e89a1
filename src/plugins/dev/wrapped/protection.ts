import { fieldsOf, type SecretsSource } from '../keys/set-up.ts';

/** The wrapper's protections that this machine supports. */
export interface Protection {
  readonly delivery: 'fd' | 'env';
  readonly requireMlock: boolean;
  /** Protections that had to be left out, and why, a sentence each. */
  readonly concessions: readonly string[];
}

export const full: Protection = { delivery: 'fd', requireMlock: true, concessions: [] };

/** `fd` can be updated in place; the environment of a running program cannot. */
export const rotationOf = ({ delivery }: Protection): 'sighup' | 'restart' =>
  delivery === 'fd' ? 'sighup' : 'restart';

/**
 * Tries with every protection, then without those that were refused.
 * @throws the error of `start` if there is nothing left to omit
 */
export async function withBestProtection<T>(start: (protection: Protection) => Promise<T>): Promise<T> {
  let protection: Protection | undefined = full;
  for (;;) {
    try {
      return await start(protection);
    } catch (error) {
      protection = error instanceof WrapperRefusal ? weaker(protection, error) : undefined;
      if (protection === undefined) throw error;
    }
  }
}

function weaker(protection: Protection, { code, reason }: WrapperRefusal): Protection | undefined {
  const without = (change: Partial<Protection>, consequence: string): Protection => ({
    ...protection,
    ...change,
    concessions: [...protection.concessions, `${reason}. ${consequence}`],
  });
  if (code === 'MEMORY_LOCK_REFUSED' && protection.requireMlock)
    return without({ requireMlock: false }, 'So the wrapper runs with SVC_REQUIRE_MLOCK=false.');
  if (protection.delivery === 'fd' && noDescriptor.has(code))
    return without({ delivery: 'env' }, 'So it delivers by the environment: SVC_DELIVERY=env.');
  return undefined;
}

/**
 * Errors after which delivery falls back to the environment; undefined: the application could not map its descriptor.
 */
const noDescriptor: ReadonlySet<string | undefined> = new Set([
  'MEMFD_SECRET_UNAVAILABLE',
  'MEMORY_LOCK_REFUSED',
  undefined,
]);

/** How often the wrapper looks for new versions, in Go's form. */
export const lookEvery = '1s';

/** The whole environment of the wrapper and the demo below it, with nothing else from this process. */
export function wrapperEnvironment(
  { keyServer, secrets, tokens }: SecretsSource,
  protection: Protection,
  port: number,
): Record<string, string | undefined> {
  const { delivery, requireMlock } = protection;
  return {
    PATH: process.env['PATH'],
    VAULT_ADDR: keyServer,
    VAULT_AUTH_METHOD: 'token',
    VAULT_TOKEN: tokens.reader,
    SVC_SECRET_PATHS: Object.keys(secrets)
      .map((name) => `secret/${name}`)
      .join(','),
    SVC_DELIVERY: delivery,
    SVC_ROTATION: rotationOf(protection),
    RENEWAL_INTERVAL: lookEvery,
    SVC_REQUIRE_MLOCK: String(requireMlock),
    SVC_REQUIRE_MEMFD_SECRET: String(delivery === 'fd'),
    SVC_STOP_GRACE: '2s',
    SVC_LOG_FORMAT: 'json',
    HEALTH_ADDR: '127.0.0.1:0',
    HOST: '127.0.0.1',
    PORT: String(port),
    DEMO_KEYS: delivery === 'env' ? fieldsOf(secrets).join(',') : undefined,
  };
}

/** The wrapper, or the application below it, ended before it served requests. */
export class WrapperRefusal extends Error {
  override readonly name = 'WrapperRefusal';
  /** The wrapper's error code; undefined if the application ended. */
  readonly code: string | undefined;
  /** Without a full stop. */
  readonly reason: string;

  constructor(code: string | undefined, reason: string) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }
}
