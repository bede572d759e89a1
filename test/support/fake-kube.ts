import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { KubeClient, KubeObject } from '../../src/cluster/kube/client.ts';
import { kubeClientOver } from '../../src/cluster/kube/create-client.ts';
import { listen } from './loopback.ts';
import type { Stoppable } from './types.ts';

export interface FakeKubeRequest {
  readonly kind: 'list' | 'watch' | 'get';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
}

export type Responder = (request: FakeKubeRequest, response: ServerResponse) => void;

/** The list and watch of one collection, and the get of anything, as an API server does them, and every way of doing them wrong. */
export interface FakeKube extends Stoppable {
  readonly url: string;
  readonly requests: readonly FakeKubeRequest[];
  /** Watches that are open now. */
  readonly watches: number;
  /** At most so many objects a page, whatever is asked for. */
  pageSize: number;
  /** @param rest of the object, beside its metadata */
  put(name: string, extra?: Partial<KubeObject['metadata']>, rest?: object): void;
  remove(name: string): void;
  /** As `put` and `remove`, without telling the watches. */
  quietly(change: () => void): void;
  bookmark(): void;
  /** Sends text on every open watch, as it is. */
  send(text: string): void;
  /** Ends every open watch, in order or by a reset. */
  cut(manner: 'fin' | 'reset'): void;
  /** Versions before now cannot be watched from any more. */
  compact(): void;
  /** The next requests of that kind get this answer. */
  answer(kind: FakeKubeRequest['kind'], answer: Responder, times?: number): void;
  client(): KubeClient;
}

const COLLECTION = '/api/v1/pods';

interface Change {
  readonly version: number;
  readonly line: string;
}

/** An answer with a Status object. */
export function status(code: number, message = 'made up', headers: Record<string, string> = {}): Responder {
  return (_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', code, message, reason: 'Fake' }));
  };
}

/** Starts it on loopback, over plain HTTP. */
export async function startFakeKube(): Promise<FakeKube> {
  const objects = new Map<string, KubeObject>();
  const changes: Change[] = [];
  const requests: FakeKubeRequest[] = [];
  const open = new Set<ServerResponse>();
  const queued: { readonly kind: string; readonly answer: Responder }[] = [];
  let version = 100;
  let compacted = 0;
  let quiet = false;
  let pageSize = 500;

  const send = (text: string) => {
    for (const response of open) response.write(text);
  };
  const record = (type: string, object: KubeObject) => {
    const line = `${JSON.stringify({ type, object })}\n`;
    changes.push({ version, line });
    if (!quiet) send(line);
  };
  const list = ({ query }: FakeKubeRequest, response: ServerResponse) => {
    const from = Number(query['continue'] ?? 0);
    const upTo = from + Math.min(pageSize, Number(query['limit']));
    const next = upTo < objects.size ? String(upTo) : undefined;
    const items = [...objects.values()].slice(from, upTo);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: { resourceVersion: String(version), continue: next }, items }));
  };
  const watch = (request: FakeKubeRequest, response: ServerResponse) => {
    const from = Number(request.query['resourceVersion']);
    if (from < compacted) return status(410, 'too old resource version')(request, response);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const change of changes) if (change.version > from) response.write(change.line);
    open.add(response);
    const timer = setTimeout(() => response.end(), Number(request.query['timeoutSeconds']) * 1_000);
    response.once('close', () => {
      clearTimeout(timer);
      open.delete(response);
    });
  };
  const get: Responder = (_request, response) => void response.end('{}');
  const server = createServer((incoming, response) => {
    const { pathname: path, searchParams } = new URL(incoming.url ?? '', 'http://fake');
    const query = Object.fromEntries(searchParams);
    const kind = path !== COLLECTION ? 'get' : query['watch'] ? 'watch' : 'list';
    const request = { kind, path, query, headers: incoming.headers } as const;
    requests.push(request);
    const index = queued.findIndex(({ kind }) => kind === request.kind);
    const [canned] = index < 0 ? [] : queued.splice(index, 1);
    const answer = canned?.answer ?? { list, watch, get }[kind];
    answer(request, response);
  });
  const { url, stop } = await listen(server);

  return {
    url,
    requests,
    get watches() {
      return open.size;
    },
    get pageSize() {
      return pageSize;
    },
    set pageSize(size) {
      pageSize = size;
    },
    put(name, extra = {}, rest = {}) {
      version += 1;
      const type = objects.has(name) ? 'MODIFIED' : 'ADDED';
      const uid = objects.get(name)?.metadata.uid ?? `uid-${name}-${version}`;
      const object = {
        metadata: { name, namespace: 'test', uid, resourceVersion: String(version), ...extra },
        ...rest,
      };
      objects.set(name, object);
      record(type, object);
    },
    remove(name) {
      version += 1;
      const object = objects.get(name);
      if (object === undefined) throw new Error(`There is no ${name}.`);
      objects.delete(name);
      record('DELETED', { metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
    quietly(change) {
      quiet = true;
      change();
      quiet = false;
    },
    bookmark() {
      const object = { metadata: { resourceVersion: String(version) } };
      send(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    },
    send,
    cut(manner) {
      for (const response of open) {
        open.delete(response);
        if (manner === 'fin') response.end();
        else response.destroy();
      }
    },
    compact() {
      compacted = version;
    },
    answer(kind, answer, times = 1) {
      for (let count = 0; count < times; count++) queued.push({ kind, answer });
    },
    client() {
      const agent = new Agent({ keepAlive: true });
      return kubeClientOver({
        server: new URL(url),
        origin: 'test',
        credentials: async () => ({ headers: {}, agent }),
        close: () => agent.destroy(),
      });
    },
    stop,
  };
}
