import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Responder = (response: ServerResponse, request: IncomingMessage) => void;
type Objects = readonly (readonly [key: string, answer: string | Responder, etag?: string])[];

/** A store that lists what it likes, and answers each key as it is told. Keys are told apart by their place. */
export class HostileStore {
  readonly #server: Server;
  objects: Objects = [];
  /** Members of the listing beside the objects. */
  listing = '<IsTruncated>false</IsTruncated>';

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (query.includes('list-type=2')) return void response.end(this.#list());
    const key = decodeURIComponent(path.slice('/bucket/'.length));
    const [, answer, etag = 'e'] = this.objects.find(([one]) => one === key) ?? [];
    if (answer === undefined)
      return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    response.setHeader('etag', `"${etag}"`);
    if (typeof answer === 'function') return answer(response, request);
    response.setHeader('content-length', Buffer.byteLength(answer));
    response.end(answer);
  }

  #list(): string {
    const contents = this.objects.map(
      ([key, , etag = 'e']) =>
        `<Contents><Key>${encodeURIComponent(key)}</Key><ETag>"${etag}"</ETag><Size>4</Size>` +
        '<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>',
    );
    return `<ListBucketResult><EncodingType>url</EncodingType>${this.listing}${contents.join('')}</ListBucketResult>`;
  }
}
