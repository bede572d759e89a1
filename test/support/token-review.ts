import { createSign, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createCertificateAuthority } from './certificates.ts';
import { listen } from './loopback.ts';
import { testRsaKey } from './rsa-keys.ts';
import type { Stoppable } from './types.ts';

const LIFETIME_S = 3_600;

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** The part of a Kubernetes API server that `auth/kubernetes` calls, for JWTs of its own making. */
export interface TokenReviewServer extends Stoppable {
  readonly url: string;
  /** PEM, for `kubernetes_ca_cert`. */
  readonly caCert: string;
  /** A fresh JWT for the service account, good for an hour. */
  issue(account: ServiceAccount): string;
  revoke(jwt: string): void;
  reviews(): number;
}

/** Starts the TokenReview server (HTTPS, loopback). */
export async function startTokenReviewServer(): Promise<TokenReviewServer> {
  const ca = createCertificateAuthority('svc test Kubernetes CA');
  const privateKey = testRsaKey();
  const accounts = new Map<string, UserInfo>();
  let reviews = 0;
  const server = createServer(ca.issue({ commonName: 'kubernetes' }), async (request, response) => {
    reviews += 1;
    await review(request, response, accounts);
  });
  const own = await listen(server);
  return {
    url: own.url,
    caCert: ca.cert,
    issue(account) {
      const uid = randomUUID();
      const head = { alg: 'RS256', typ: 'JWT', kid: 'test' };
      const text = [head, claims(account, uid)].map((part) => base64url(JSON.stringify(part))).join('.');
      const jwt = `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`;
      accounts.set(jwt, userInfo(account, uid));
      return jwt;
    },
    revoke: (jwt) => void accounts.delete(jwt),
    reviews: () => reviews,
    stop: own.stop,
  };
}

interface UserInfo {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

function userInfo({ namespace, name }: ServiceAccount, uid: string): UserInfo {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { username: `system:serviceaccount:${namespace}:${name}`, uid, groups };
}

function claims({ namespace, name }: ServiceAccount, uid: string): object {
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: 'https://kubernetes.default.svc.cluster.local',
    aud: ['https://kubernetes.default.svc.cluster.local'],
    sub: `system:serviceaccount:${namespace}:${name}`,
    iat: now,
    nbf: now,
    exp: now + LIFETIME_S,
    jti: randomUUID(),
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
  };
}

async function review(
  request: IncomingMessage,
  response: ServerResponse,
  accounts: ReadonlyMap<string, UserInfo>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method !== 'POST' || request.url !== '/apis/authentication.k8s.io/v1/tokenreviews') {
    response.writeHead(404).end();
    return;
  }
  const { apiVersion, kind, spec } = JSON.parse(Buffer.concat(chunks).toString());
  const user = accounts.get(spec.token);
  const status = user
    ? { authenticated: true, user, audiences: spec.audiences }
    : { authenticated: false, error: 'invalid bearer token' };
  response.writeHead(201, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ apiVersion, kind, status }));
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
