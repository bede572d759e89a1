import { isEncodedPath } from '../../core/vault/path.ts';
import { ByteTransport } from './byte-transport.ts';
import type { VaultConnection } from './connection.ts';
import type { VaultRequest, VaultResponse, VaultTransport } from './contract.ts';
import { createWire } from './create-wire.ts';
import { VaultError } from './errors.ts';
import { followStandby } from './standby.ts';
import type { WireRequest } from './wire.ts';

type SendRequest = Parameters<VaultTransport['send']>[0];

/**
 * The key server's API over `node:http` and nothing else: for what starts fast and calls often.
 * @throws SvcError (exit 78) where TLS files cannot be used
 */
export function createLeanTransport(connection: VaultConnection): VaultTransport {
  const wire = createWire(connection);
  const toWire = wireRequests(connection);
  const bytes = new ByteTransport(connection);
  return {
    async send(request): Promise<VaultResponse> {
      const outgoing = toWire(request);
      const used = request.bytes === undefined ? wire : bytes.carrying(request.bytes);
      const answer = await used.exchange(outgoing);
      const { status, body } =
        answer.status === 307 ? await followStandby(used, connection, outgoing, answer) : answer;
      return { status, body };
    },
    close() {
      wire.close();
      bytes.close();
    },
  };
}

/** Turns requests into what goes on the wire. A LIST goes as a GET with `list=true`, which every gateway lets through. */
export function wireRequests(connection: VaultConnection): (request: SendRequest) => WireRequest {
  const { address, namespace, requestTimeoutMs } = connection;
  const prefix = `${address.pathname.replace(/\/+$/, '')}/v1/`;
  return (request) => ({
    origin: address,
    method: request.method === 'LIST' ? 'GET' : request.method,
    path: `${prefix}${checkedPath(request)}${request.method === 'LIST' ? '?list=true' : ''}`,
    headers: headersFor(request, namespace),
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
    signal: request.signal,
    timeoutMs: Math.min(requestTimeoutMs, request.timeoutMs ?? requestTimeoutMs),
  });
}

function headersFor({ body, bytes, token }: SendRequest, namespace: string | undefined) {
  const headers: Record<string, string> = { Accept: 'application/json', 'X-Vault-Request': 'true' };
  if (body !== undefined || bytes !== undefined) headers['Content-Type'] = 'application/json';
  if (token !== undefined) headers['X-Vault-Token'] = token;
  if (namespace !== undefined) headers['X-Vault-Namespace'] = namespace;
  return headers;
}

function checkedPath({ path }: VaultRequest): string {
  if (isEncodedPath(path)) return path;
  throw new VaultError('rejected', 'A path for the key server is not encoded', { path });
}
