import type { Logger } from '../../runtime/logging/logger.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { s3Error } from '../s3/error.ts';
import type { SigningCredentials } from '../s3/sigv4-sign.ts';

export interface StoreCredentials extends SigningCredentials {
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** The store's credentials, cached until shortly before they expire. @throws S3Error 503 if there are none */
export type CredentialSource = () => StoreCredentials | Promise<StoreCredentials>;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The AWS default provider chain, loaded on first use and only as far as needed.
 * @param profile from the shared configuration, in place of the one in the environment
 */
export function defaultCredentials(env: Env, log: Logger, profile?: string): CredentialSource {
  const redact = redacting();
  const fixed = profile === undefined ? fromEnvironment(env) : undefined;
  if (fixed) {
    redact(fixed);
    return () => fixed;
  }
  const chain = loadChain(profile);
  const provider = async () => redact(await chain());
  return memoised(provider, (error) => {
    const source = profile === undefined ? namedSource(env) : `profile ${profile}`;
    log.error('upstream.credentials.missing', {
      error: nameOf(error),
      ...(source && { source }),
      next: nextStep(error, source),
    });
    return s3Error('ServiceUnavailable', 'The proxy has no credentials for the object store.', {
      cause: error,
    });
  });
}

/** Variables that configure providers, in the chain's order. */
const sources = [
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];
const namedSource = (env: Env) => sources.find((name) => env[name]);

/** An error in the code is ours, whatever the configuration. */
function nextStep(error: unknown, source: string | undefined): string {
  if (error instanceof TypeError || error instanceof ReferenceError)
    return 'this is a defect of svc, not of the configuration; report it with this line';
  if (source) return `check what ${source} names: it must exist and answer, and its role must be allowed`;
  return 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the pod a role that the AWS default provider chain finds';
}

/** Redacts the secret parts of the latest credentials in logs. */
function redacting(): (credentials: StoreCredentials) => StoreCredentials {
  let forget: (() => void)[] = [];
  return (credentials) => {
    const { secretAccessKey, sessionToken } = credentials;
    for (const drop of forget) drop();
    forget = [secretAccessKey, sessionToken].filter((text) => text !== undefined).map(secrets.register);
    return credentials;
  };
}

/** The chain's first provider, without loading the chain; as in the chain, a named profile takes precedence. */
function fromEnvironment(env: Env): StoreCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!accessKeyId || !secretAccessKey || env.AWS_PROFILE || env.AWS_CREDENTIAL_EXPIRATION) return undefined;
  const sessionToken = env.AWS_SESSION_TOKEN;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

type Provider = () => Promise<StoreCredentials>;

function loadChain(profile: string | undefined): Provider {
  let chain: Promise<Provider> | undefined;
  return async () => {
    chain ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) =>
      defaultProvider(profile === undefined ? {} : { profile }),
    );
    return (await chain)();
  };
}

const refreshBeforeMs = 5 * 60_000;

/**
 * Makes one call of `provider` at a time. Credentials that are about to expire are still used while newer ones are not
 * available.
 */
export function memoised(
  provider: Provider,
  refuse: (error: unknown) => Error,
  now: () => number = Date.now,
): CredentialSource {
  let current: StoreCredentials | undefined;
  let pending: Promise<StoreCredentials> | undefined;
  const lifetime = () =>
    current?.expiration ? current.expiration.getTime() - now() : Number.POSITIVE_INFINITY;
  const refresh = async () => {
    try {
      current = await provider();
      return current;
    } catch (error) {
      if (current && lifetime() > 0) return current;
      throw refuse(error);
    } finally {
      pending = undefined;
    }
  };
  return () => {
    if (current && lifetime() > refreshBeforeMs) return current;
    pending ??= refresh();
    return pending;
  };
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : typeof error);
