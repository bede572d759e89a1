import { type AuthChallenge, parseChallenges } from '../../core/image/auth-challenge.ts';
import { isJsonObject, textOf } from '../../core/image/json.ts';
import type { RegistryCredential } from '../../core/image/registry-credential.ts';
import { type Endpoint, mayLeadTo } from './endpoint.ts';
import { RegistryError } from './errors.ts';
import { failureOf } from './failure.ts';
import type { Wire, WireAnswer } from './wire.ts';

const largestToken = 64 * 1024;
const longestParameter = 1_024;

export interface AuthorizeOptions {
  readonly wire: Wire;
  readonly endpoint: Endpoint;
  /** Undefined: as anybody. */
  readonly credential: RegistryCredential | undefined;
  readonly signal: AbortSignal;
  /** Told of each token, so that no log shows it. */
  readonly onToken: (token: string) => void;
}

/**
 * The `Authorization` header that a 401 asks for: a token of the service that it names, or user and password.
 * Source: https://distribution.github.io/distribution/spec/auth/token/
 * @returns undefined where nothing that is there would do
 * @throws RegistryError when the token service does not give one
 */
export async function authorize(answer: WireAnswer, options: AuthorizeOptions): Promise<string | undefined> {
  const challenges = parseChallenges(answer.headers['www-authenticate'] ?? '');
  const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
  if (bearer !== undefined) return `Bearer ${await token(bearer, options)}`;
  return challenges.some(({ scheme }) => scheme === 'basic') ? basic(options.credential) : undefined;
}

async function token({ parameters }: AuthChallenge, options: AuthorizeOptions): Promise<string> {
  const { wire, endpoint, credential, signal } = options;
  const url = realmOf(parameters['realm'], endpoint);
  const service = parameters['service']?.slice(0, longestParameter);
  const scope = parameters['scope']?.slice(0, longestParameter) ?? `repository:${endpoint.repository}:pull`;
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope);
  const user = basic(credential);
  const headers: Record<string, string> = user === undefined ? {} : { authorization: user };
  const answer = await wire.send({ method: 'GET', url, headers, maxBytes: largestToken, signal });
  if (answer.status === 400) throw new RegistryError('REGISTRY_DENIED', `${url.host} answers 400`);
  if (answer.status !== 200) throw failureOf(url.host, answer);
  const found = readToken(answer.body, url.host);
  options.onToken(found);
  return found;
}

function realmOf(realm: string | undefined, endpoint: Endpoint): URL {
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

/** What does not parse may hold a token: it is not told, and no cause is kept. */
function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
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
