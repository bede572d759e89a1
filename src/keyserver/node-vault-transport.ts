import { apiPrefix, tlsFor, type VaultConnectionSettings } from './connection.ts';
import type { VaultResponse, VaultTransport } from './contract.ts';
import { createJsonHttpClient, type JsonHttpClient, type JsonHttpRequest } from './json-http-client.ts';
import { followStandby, httpRequests } from './lean-transport.ts';

/** The options that node-vault passes to its HTTP library; `exchange` is ours and passes through. */
interface HttpOptions {
  readonly uri: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly exchange: { readonly request: JsonHttpRequest; answer?: VaultResponse };
}

/**
 * The transport over node-vault, for setup and checks, which need no speed. Its `request-promise` option replaces its
 * HTTP library (axios) by our client, because axios follows redirects to any host with the token, does not limit
 * response sizes and obeys proxy variables.
 * @throws SvcError (exit 78) for unusable TLS files
 */
export async function createNodeVaultTransport(connection: VaultConnectionSettings): Promise<VaultTransport> {
  const http = createJsonHttpClient(connection, tlsFor(connection));
  const client = await loadClient(http, connection);
  const toHttpRequest = httpRequests(connection);
  return {
    async send(request): Promise<VaultResponse> {
      if (request.bytes !== undefined) throw new TypeError('node-vault makes strings of every body');
      const exchange: HttpOptions['exchange'] = { request: toHttpRequest(request) };
      const { path, method, headers } = exchange.request;
      const options = {
        path: path.slice(apiPrefix(connection).length - 1),
        method,
        headers,
        json: request.body,
        exchange,
      };
      return client.request(options).then(
        () => answerOf(exchange),
        (error) => answerOf(exchange, error),
      );
    },
    close: () => http.close(),
  };
}

async function loadClient(http: JsonHttpClient, connection: VaultConnectionSettings) {
  const { default: nodeVault } = await import('node-vault');
  const client = nodeVault({
    endpoint: connection.address.href.replace(/\/+$/, ''),
    // with DEBUG=node-vault it would write whole requests to standard error
    debug: () => undefined,
    'request-promise': { defaults: () => (options: HttpOptions) => overHttp(http, connection, options) },
  });
  // node-vault would take these from VAULT_TOKEN, VAULT_NAMESPACE and VAULT_PREFIX; our headers and paths are complete
  return Object.assign(client, { token: '', namespace: '', pathPrefix: '' });
}

async function overHttp(http: JsonHttpClient, connection: VaultConnectionSettings, options: HttpOptions) {
  const { method, headers, json, exchange } = options;
  const path = options.uri.slice(connection.address.origin.length);
  const body = json === undefined ? undefined : JSON.stringify(json);
  const request = { ...exchange.request, method, headers, path, body };
  const first = await http.exchange(request);
  const answer = first.status === 307 ? await followStandby(http, connection, request, first) : first;
  const { location, ...final } = answer;
  exchange.answer = final;
  return { statusCode: answer.status, body: answer.body, request: { path } };
}

/** node-vault treats statuses other than 200 and 204 as errors; without a response there was a real one. */
function answerOf({ answer }: HttpOptions['exchange'], error?: unknown): VaultResponse {
  if (answer === undefined) throw error;
  return answer;
}
