import { parseBounded } from '../../runtime/bounds/bounded-json.ts';
import { retry, sleep } from '../../runtime/lifecycle/wait.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { retryAfter } from '../../runtime/net/retry-after.ts';
import { mayLeadTo, type RegistryEndpoint } from './endpoint.ts';
import { isJsonObject, textOf } from './manifest.ts';
import { type AuthChallenge, parseChallenges } from './registry-access.ts';
import type { RegistryCredential } from './registry-credentials.ts';
import {
  hasCode,
  RegistryError,
  type RegistryErrorCode,
  type RegistryHttpClient,
  type RegistryHttpResponse,
} from './registry-http-client.ts';

const mostRedirects = 5;
/** If a registry asks for a longer pause, the lookup fails. */
const longestWaitMs = 2_000;
const retries = { initialMs: 150, maxMs: 1_000, maxAttempts: 3 };

export interface RegistrySessionOptions {
  readonly client: RegistryHttpClient;
  readonly endpoint: RegistryEndpoint;
  /** Undefined: anonymous. */
  readonly credential: RegistryCredential | undefined;
  readonly signal: AbortSignal;
}

export interface RegistryRequest {
  readonly method?: 'GET' | 'HEAD';
  /** Path below the repository: `manifests/latest`. */
  readonly path: string;
  readonly accept?: string;
  readonly maxBytes: number;
}

/** One user's requests to one repository. */
export interface RegistrySession {
  readonly endpoint: RegistryEndpoint;
  /** Whether the responses so far came from a registry. */
  readonly isRegistry: boolean;
  /** @throws RegistryError unless successful */
  request(request: RegistryRequest): Promise<RegistryHttpResponse>;
  /** Discards the credential and the tokens. */
  close(): void;
}

/** Logs in when asked to, follows redirects without credentials, and retries failures that may be temporary. */
export function openSession(options: RegistrySessionOptions): RegistrySession {
  const { endpoint, credential } = options;
  const known = credential === undefined ? [] : [secrets.register(credential.password)];
  const state: State = {
    options,
    headers: new Map(),
    onToken: (token) => known.push(secrets.register(token)),
    isRegistry: false,
  };
  return {
    endpoint,
    get isRegistry() {
      return state.isRegistry;
    },
    async request(request) {
      const path = `/v2/${endpoint.repository}/${request.path}`;
      const url = new URL(path, endpoint.origin);
      // a mirror of several registries needs to know which one is requested
      if (endpoint.mirrorOf !== undefined) url.searchParams.set('ns', endpoint.mirrorOf);
      return await follow(state, url, request);
    },
    close() {
      for (const forget of known) forget();
    },
  };
}

interface State {
  readonly options: RegistrySessionOptions;
  /** `Authorization` by origin; undefined for none. */
  readonly headers: Map<string, string | undefined>;
  readonly onToken: (token: string) => void;
  isRegistry: boolean;
}

async function follow(state: State, start: URL, request: RegistryRequest): Promise<RegistryHttpResponse> {
  const { endpoint } = state.options;
  let url = start;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    const answer = await authorized(state, url, request);
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (answer.status < 300 || answer.status >= 400) throw failureOf(url.host, answer);
    const { location } = answer.headers;
    const next = location && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || !mayLeadTo(endpoint, next))
      throw new RegistryError('REGISTRY_REFUSED', `${url.host} redirects to an address that is not trusted`);
    url = next;
  }
  throw new RegistryError('REGISTRY_REFUSED', `${start.host} redirects without end`);
}

/** The credential is only sent to the endpoint; tokens for other origins are requested anonymously. */
async function authorized(state: State, url: URL, request: RegistryRequest): Promise<RegistryHttpResponse> {
  const { options, headers, onToken } = state;
  const answer = await persistent(state, url, request);
  if (answer.status !== 401 || headers.has(url.origin)) return answer;
  const isHome = url.origin === options.endpoint.origin.origin;
  const credential = isHome ? options.credential : undefined;
  const header = await authorize(answer, { ...options, credential, onToken });
  headers.set(url.origin, header);
  return header === undefined ? answer : await persistent(state, url, request);
}

function persistent(state: State, url: URL, request: RegistryRequest): Promise<RegistryHttpResponse> {
  const { signal } = state.options;
  const isRetryable = (error: unknown) => hasCode(error, 'REGISTRY_UNAVAILABLE');
  return retry(() => attempt(state, url, request), { ...retries, signal, isRetryable });
}

async function attempt(state: State, url: URL, request: RegistryRequest): Promise<RegistryHttpResponse> {
  const { options, headers } = state;
  const { client, signal, endpoint } = options;
  const { method = 'GET', accept, maxBytes } = request;
  const authorization = headers.get(url.origin);
  const answer = await client.send({
    ...{ method, url, maxBytes, signal },
    headers: { ...(accept && { accept }), ...(authorization && { authorization }) },
  });
  state.isRegistry ||= url.origin === endpoint.origin.origin && isFromRegistry(answer);
  const isPassing = answer.status === 429 || answer.status === 408 || answer.status >= 500;
  if (!isPassing) return answer;
  const failure = failureOf(url.host, answer);
  const { retryAfterMs = 0 } = failure;
  if (retryAfterMs > longestWaitMs) return answer;
  await sleep(retryAfterMs, signal);
  throw failure;
}

const largestToken = 64 * 1024;
const longestParameter = 1_024;

export interface AuthorizeOptions {
  readonly client: RegistryHttpClient;
  readonly endpoint: RegistryEndpoint;
  /** Undefined: anonymous. */
  readonly credential: RegistryCredential | undefined;
  readonly signal: AbortSignal;
  /** Called with each token, so that it can be redacted. */
  readonly onToken: (token: string) => void;
}

/**
 * The `Authorization` header that a 401 asks for: a token from the named service, or user and password. Source:
 * https://distribution.github.io/distribution/spec/auth/token/
 * @returns undefined if no credential fits
 * @throws RegistryError if the token service does not issue a token
 */
async function authorize(
  answer: RegistryHttpResponse,
  options: AuthorizeOptions,
): Promise<string | undefined> {
  const challenges = parseChallenges(answer.headers['www-authenticate'] ?? '');
  const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
  if (bearer !== undefined) return `Bearer ${await token(bearer, options)}`;
  return challenges.some(({ scheme }) => scheme === 'basic') ? basic(options.credential) : undefined;
}

async function token({ parameters }: AuthChallenge, options: AuthorizeOptions): Promise<string> {
  const { client, endpoint, credential, signal } = options;
  const url = realmOf(parameters['realm'], endpoint);
  const service = parameters['service']?.slice(0, longestParameter);
  const scope = parameters['scope']?.slice(0, longestParameter) ?? `repository:${endpoint.repository}:pull`;
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope);
  const user = basic(credential);
  const headers: Record<string, string> = user === undefined ? {} : { authorization: user };
  const answer = await client.send({ method: 'GET', url, headers, maxBytes: largestToken, signal });
  if (answer.status === 400) throw new RegistryError('REGISTRY_DENIED', `${url.host} answers 400`);
  if (answer.status !== 200) throw failureOf(url.host, answer);
  const found = readToken(answer.body, url.host);
  options.onToken(found);
  return found;
}

function realmOf(realm: string | undefined, endpoint: RegistryEndpoint): URL {
  const url = realm !== undefined && URL.canParse(realm) ? new URL(realm) : undefined;
  if (url === undefined || !mayLeadTo(endpoint, url))
    throw new RegistryError(
      'REGISTRY_REFUSED',
      `${endpoint.origin.host} names a token service that is not trusted`,
    );
  return url;
}

function readToken(body: Buffer, host: string): string {
  const { token, access_token: accessToken } = parse(body);
  const found = textOf(token) ?? textOf(accessToken) ?? '';
  if (!/^[\x21-\x7e]{1,16384}$/.test(found))
    throw new RegistryError('REGISTRY_REFUSED', `${host} gives no token`);
  return found;
}

/** Values and names of a token service's answer. */
const mostOfToken = 1_000;

/** Unparsable text may contain a token, so neither the text nor the cause is kept. */
function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value = parseBounded(body, { maxParts: mostOfToken });
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function basic(credential: RegistryCredential | undefined): string | undefined {
  if (credential === undefined) return undefined;
  const { username, password } = credential;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/**
 * Whether a response has headers that only registries send. Source: https://github.com/opencontainers/distribution-spec
 */
function isFromRegistry({ headers, body }: RegistryHttpResponse): boolean {
  return (
    headers['docker-distribution-api-version'] !== undefined ||
    headers['docker-content-digest'] !== undefined ||
    ownCodes.test(body.subarray(0, 4_096).toString('latin1'))
  );
}

const ownCodes =
  /"code"\s*:\s*"(MANIFEST_(UNKNOWN|INVALID|UNVERIFIED|BLOB_UNKNOWN)|NAME_(UNKNOWN|INVALID)|BLOB_UNKNOWN|TOOMANYREQUESTS)"/;

const codes: Readonly<Record<number, RegistryErrorCode>> = {
  401: 'REGISTRY_DENIED',
  403: 'REGISTRY_DENIED',
  404: 'REGISTRY_MISSING',
  408: 'REGISTRY_UNAVAILABLE',
  429: 'REGISTRY_UNAVAILABLE',
};

/** The error for an unsuccessful response; the body contributes only a code in capitals. */
function failureOf(host: string, answer: RegistryHttpResponse): RegistryError {
  const { status, headers, body } = answer;
  const code = codes[status] ?? (status >= 500 ? 'REGISTRY_UNAVAILABLE' : 'REGISTRY_REFUSED');
  const named = /"code"\s*:\s*"([A-Z_]{3,40})"/.exec(body.toString('latin1'))?.[1];
  const message = `${host} answers ${status}${named === undefined ? '' : ` ${named}`}`;
  return new RegistryError(code, message, {
    ...retryAfter(headers['retry-after']),
    told: isFromRegistry(answer),
  });
}
