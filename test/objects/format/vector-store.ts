import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NamedVector } from './vectors.ts';

/** A store that holds the objects of one vector at a time. */
export class VectorStore {
  readonly #server: Server;
  vector: NamedVector | undefined;

  constructor() {
    this.#server = createServer((request, response) => {
      const found = this.vector?.objects.find(
        ({ bucket, key }) => decodedPath(pathOf(bucket, key)) === decodedPath(request.url ?? ''),
      );
      if (found === undefined) return response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
      const body = Buffer.from(found.body, 'base64');
      for (const [name, value] of Object.entries(found.metadata))
        response.setHeader(`x-amz-meta-${name}`, value);
      return response.writeHead(200, { etag: '"e"', 'content-length': body.length }).end(body);
    });
  }

  async listen(): Promise<URL> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const pathOf = (bucket: string, key: string) =>
  `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;

const decodedPath = (path: string) => path.split('/').map(decodeURIComponent).join('/');
