import type { ChunkSigningContext } from '../../../core/s3/chunk-signature.ts';
import { serializeQuery } from '../../../core/s3/query.ts';
import { RequestSigner } from '../../../core/s3/sigv4-sign.ts';
import type { CredentialSource } from '../../../runtime/object-store/credentials.ts';
import type { Endpoint } from './endpoint.ts';
import type { UpstreamRequest } from './upstream.ts';
import type { WireHead } from './wire.ts';

type HeaderValues = Readonly<Record<string, string | undefined>>;

export interface Composed {
  readonly head: WireHead;
  /** Where chunk signatures continue from. */
  readonly chunks: ChunkSigningContext;
}

/** Puts requests into the form in which they go to the store, signed with the proxy's credentials. */
export class RequestComposer {
  readonly #endpoint: Endpoint;
  readonly #credentials: CredentialSource;
  readonly #signer: RequestSigner;

  constructor(endpoint: Endpoint, region: string, credentials: CredentialSource) {
    this.#endpoint = endpoint;
    this.#credentials = credentials;
    this.#signer = new RequestSigner(region);
  }

  /** `payload`: value of `x-amz-content-sha256`; `framing`: headers that say how long the body is. */
  async compose(request: UpstreamRequest, payload: string, framing: HeaderValues): Promise<Composed> {
    const { method, bucket, key } = request;
    const path = this.#endpoint.path(bucket, key);
    const query = serializeQuery(request.query ?? []);
    const headers = { ...defined(request.headers), ...defined(framing), host: this.#endpoint.authority };
    const credentials = await this.#credentials();
    const signed = this.#signer.sign({ method, path, query, headers, payload }, credentials);
    const target = query === '' ? path : `${path}?${query}`;
    return { head: { method, target, headers: signed.headers }, chunks: signed.chunks };
  }
}

function defined(values: HeaderValues | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
