import { connect, type TLSSocket } from 'node:tls';
import { dataOf } from '../../keyserver/answers.ts';
import { type ByteServer, byteServer } from '../../keyserver/byte-server.ts';
import { TlsContext, vaultConnection } from '../../keyserver/connection.ts';
import { failureOf, type VaultTransport } from '../../keyserver/contract.ts';
import { KeptToken, revokeToken } from '../../keyserver/kept-token.ts';
import { createLeanTransport } from '../../keyserver/lean-transport.ts';
import { createNodeVaultTransport } from '../../keyserver/node-vault-transport.ts';
import {
  type ResolvedVaultSettings,
  type VaultAuth,
  type VaultEndpoint,
  vaultAuth,
  vaultPlace,
} from '../../keyserver/settings.ts';
import { messageOf } from '../../runtime/errors.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { createWipedMemory } from '../../runtime/memory.ts';
import { bareHost, serverNameOf } from '../../runtime/net/host-names.ts';
import {
  NotEvaluated,
  NothingNamed,
  type PeerCertificate,
  type VaultAccess,
  type VaultQuery,
  type VaultSession,
} from './check.ts';
import type { ValidateConfig } from './settings.ts';

export interface OpenVault extends VaultAccess {
  /** Revokes the tokens that logins obtained. */
  close(): Promise<void>;
}

/**
 * Access to the secrets server that settings name.
 * @param signal aborts logins
 * @throws SvcError if TLS files cannot be used
 */
export async function openVault(
  config: ValidateConfig & ResolvedVaultSettings,
  signal: AbortSignal,
): Promise<OpenVault> {
  const place = vaultPlace(config);
  const { endpoint } = place;
  const connection = vaultConnection(place, 'validate');
  const logins = createLeanTransport(connection);
  const transport = await createNodeVaultTransport(connection);
  const access = { server: byteServer(logins), transport };
  const workload = login(() => namedAuth(config), access, signal);
  const { auditorTokenFile: path } = config;
  const auditor =
    path === undefined ? workload : login(() => ({ method: 'token-file', path }), access, signal);
  return {
    address: endpoint.url,
    skipVerify: endpoint.skipVerify,
    anonymous: { ask: (query, asking) => transport.send({ ...query, signal: asking }) },
    workload: workload.session,
    auditor: auditor.session,
    async capabilities(paths, asking) {
      return capabilitiesOf(await workload.session(), await auditor.session(), paths, asking);
    },
    certificate: (asking) => peerCertificate(endpoint, asking),
    async close() {
      await workload.end();
      await auditor.end();
      transport.close();
      logins.close();
    },
  };
}

/** @throws NothingNamed */
function namedAuth(config: ValidateConfig & ResolvedVaultSettings): VaultAuth {
  try {
    return vaultAuth(config);
  } catch (error) {
    throw new NothingNamed('not-evaluated', messageOf(error));
  }
}

interface Login {
  readonly session: () => Promise<OpenSession>;
  readonly end: () => Promise<void>;
}

interface Access {
  /** Logs in and revokes. */
  readonly server: ByteServer;
  /** Asks. */
  readonly transport: VaultTransport;
}

/** Logs in once, on first use. */
function login(auth: () => VaultAuth, access: Access, signal: AbortSignal): Login {
  let opening: Promise<OpenSession> | undefined;
  const open = async () => logIn(auth(), access, signal);
  return {
    session() {
      opening ??= open();
      return opening;
    },
    async end() {
      const opened = await opening?.catch(() => undefined);
      opening = undefined;
      await opened?.end();
    },
  };
}

export interface OpenSession extends VaultSession {
  readonly token: string;
  /** Revokes the token if this login obtained it; a given token stays. */
  end(): Promise<void>;
}

/** @throws VaultError `denied` if the secrets server refuses, `unavailable` */
async function logIn(
  auth: VaultAuth,
  { server, transport }: Access,
  signal: AbortSignal,
): Promise<OpenSession> {
  const kept = new KeptToken({ auth, server, memory: createWipedMemory() });
  await kept.logIn(signal);
  const token = Buffer.from(kept.inUse()).toString('latin1');
  const forget = secrets.register(token);
  return {
    token,
    ask: (query, asking) => transport.send({ ...query, token, signal: asking }),
    async end() {
      if (auth.method === 'kubernetes') await revokeToken(server, kept.inUse);
      kept.close();
      forget();
    },
  };
}

/** Capabilities by path. */
export type Capabilities = ReadonlyMap<string, readonly string[]>;

const ownPath = 'sys/capabilities-self';

/**
 * The workload's capabilities: from its own lookup if the default policy allows it, else from the auditor's.
 * @throws NotEvaluated if neither is allowed
 */
export async function capabilitiesOf(
  workload: VaultSession & { readonly token: string },
  auditor: VaultSession,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Capabilities> {
  const own: VaultQuery = { method: 'POST', path: ownPath, body: { paths } };
  const answer = await workload.ask(own, signal);
  if (answer.status === 200) return read(answer.body, paths);
  if (answer.status !== 403) throw failureOf(own, answer);
  const path = 'sys/capabilities';
  const asAuditor: VaultQuery = { method: 'POST', path, body: { paths, token: workload.token } };
  const told = auditor === workload ? answer : await auditor.ask(asAuditor, signal);
  if (told.status === 200) return read(told.body, paths);
  if (told.status !== 403) throw failureOf(asAuditor, told);
  throw new NotEvaluated(
    'The login may not ask what it may do: attach the default policy, or name a token that may ask for others with --auditor-token-file.',
    auditor === workload ? `update on ${ownPath}` : `update on ${path}`,
  );
}

function read(body: unknown, paths: readonly string[]): Capabilities {
  const data = dataOf(body);
  return new Map(paths.map((path) => [path, listed(data[path], path)]));
}

/** A missing path must not count as one without permissions. */
function listed(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0) return value.map(String);
  throw new NotEvaluated(`The secrets server does not say what the login may do on ${path}.`);
}

/** Verifies the certificate like clients of svc, but accepts any, and sends no request. */
export async function peerCertificate(
  endpoint: VaultEndpoint,
  signal: AbortSignal,
): Promise<PeerCertificate | undefined> {
  const { url } = endpoint;
  if (url.protocol !== 'https:') return undefined;
  const socket = open(endpoint);
  const abort = () => socket.destroy(new Error('no answer in time'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    await connected(socket);
    return described(socket);
  } catch (cause) {
    throw new NotEvaluated(`No TLS connection to ${url.host}: ${messageOf(cause)}`, undefined, cause);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function open({ url, caFiles, caPath, client }: VaultEndpoint): TLSSocket {
  const host = bareHost(url);
  return connect({
    host,
    port: Number(url.port || 443),
    secureContext: new TlsContext({ caFiles, caPath, client }).current(),
    rejectUnauthorized: false,
    servername: serverNameOf(host),
  });
}

function connected(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}

function described(socket: TLSSocket): PeerCertificate {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) throw new Error('the server shows no certificate');
  const { authorizationError } = socket;
  const problem = authorizationError ? messageOf(authorizationError) : undefined;
  return {
    problem: socket.authorized ? undefined : (problem ?? 'not authorized'),
    validTo: Date.parse(certificate.validTo),
    subject: certificate.subject.replaceAll('\n', ', '),
  };
}
