import { apiPrefix, type VaultConnectionSettings } from './connection.ts';
import type { VaultResponse, VaultTransport } from './contract.ts';
import { createJsonHttpClient, type JsonHttpClient, type JsonHttpRequest } from './json-http-client.ts';
import { followStandby, httpRequests } from './lean-transport.ts';

/** The options that node-vault gives to its HTTP library; our `exchange` passes through them. */
interface HttpOptions {
  readonly uri: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly exchange: { readonly request: JsonHttpRequest; answer?: VaultResponse };
}

/**
 * The same interface over node-vault, for set-up and checks, which need no speed. Its HTTP library is
 * replaced by our client through its `request-promise` option: its own (axios) follows redirects
 * to any host with the token, has no bound on the size of an answer and obeys proxy variables.
 * @throws SvcError (exit 78) where TLS files cannot be used
 */
export async function createNodeVaultTransport(connection: VaultConnectionSettings): Promise<VaultTransport> {
  const http = createJsonHttpClient(connection);
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
    // It would write whole requests to standard error under DEBUG=node-vault.
    debug: () => undefined,
    'request-promise': { defaults: () => (options: HttpOptions) => overHttp(http, connection, options) },
  });
  // It would take these from VAULT_TOKEN, VAULT_NAMESPACE and VAULT_PREFIX; our headers and paths are complete.
  return Object.assign(client, { token: '', namespace: '', pathPrefix: '' });
}

async function overHttp(http: JsonHttpClient, connection: VaultConnectionSettings, options: HttpOptions) {
  const { method, headers, json, exchange } = options;
  const path = options.uri.slice(connection.address.origin.length);
  const body = json === undefined ? undefined : JSON.stringify(json);
  const request = { ...exchange.request, method, headers, path, body };
  const first = await http.exchange(request);
  const answer = first.status === 307 ? await followStandby(http, connection, request, first) : first;
  exchange.answer = { status: answer.status, body: answer.body };
  return { statusCode: answer.status, body: answer.body, request: { path } };
}

/** Statuses other than 200 and 204 are errors to node-vault; a real error left no answer. */
function answerOf({ answer }: HttpOptions['exchange'], error?: unknown): VaultResponse {
  if (answer === undefined) throw error;
  return answer;
}
