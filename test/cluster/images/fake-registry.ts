import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../support/loopback.ts';
import { type Content, type Image, makeImage } from '../../support/registry-images.ts';
import type { Stoppable } from '../../support/types.ts';

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

/** A registry that does as it is told, right or wrong. */
export interface FakeRegistry extends Stoppable {
  readonly host: string;
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** Methods and paths so far, digests left out. */
  readonly asked: readonly string[];
  /** `team/app:v1` is this image. */
  readonly image: Image;
  /** Paths that match get this answer; what was said last counts. */
  on(path: RegExp, answer: Responder): void;
}

export const send =
  ({ bytes, mediaType }: Content, headers: Record<string, string> = {}): Responder =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': mediaType, ...headers }).end(bytes);

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Responder =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** Serves one right image until it is told otherwise. */
export async function startFakeRegistry(): Promise<FakeRegistry> {
  const requests: IncomingMessage[] = [];
  const answers: { path: RegExp; answer: Responder }[] = [];
  const image = makeImage({ entrypoint: ['/right'] });
  const server = createServer((request, response) => {
    requests.push(request);
    const url = decodeURIComponent(request.url ?? '');
    const found = answers.findLast(({ path }) => path.test(url))?.answer ?? answer(404);
    found(request, response);
  });
  const { address: host, url, stop } = await listen(server);
  const { manifest, blobs } = image;
  for (const blob of blobs)
    answers.push({ path: new RegExp(`/v2/team/app/blobs/${blob.digest}$`), answer: send(blob) });
  const digest = { 'docker-content-digest': manifest.digest };
  answers.push({
    path: new RegExp(`/v2/team/app/manifests/(v1|${manifest.digest})$`),
    answer: send(manifest, digest),
  });
  return {
    ...{ host, url, requests, image, stop },
    get asked() {
      return requests.map(({ method, url }) => `${method} ${url?.replace(/sha256(:|%3A)\w+/, 'digest')}`);
    },
    on: (path, answer) => void answers.push({ path, answer }),
  };
}
