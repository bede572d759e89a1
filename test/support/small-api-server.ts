import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { applyPatch, type Operation } from 'rfc6902';
import { createCertificateAuthority } from './certificates.ts';
import { listen } from './loopback.ts';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable } from './types.ts';

type Json = Record<string, unknown>;

export interface StoredObject extends Json {
  metadata: Json & { name?: string | undefined; namespace?: string | undefined };
}

/**
 * As much of an API server as a component needs to start and to follow objects: it keeps what it is given, validates
 * nothing and permits everything. Where what an API server does is in question, a real one is needed.
 */
export interface SmallApiServer extends Stoppable {
  readonly port: number;
  readonly adminToken: string;
  readonly caFile: string;
  /** @param path of the collection: `/api/v1/namespaces/team/pods` */
  put(path: string, object: StoredObject): void;
  get(path: string): StoredObject | undefined;
}

interface Target {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Of a list or watch: the one name that is asked for. */
  readonly only?: string | undefined;
}

const pattern =
  /^(?<group>\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/status)?$/;

function targetOf(path: string, query?: URLSearchParams): Target | undefined {
  const { group, namespace, plural, name } = pattern.exec(path)?.groups ?? {};
  if (group === undefined) return undefined;
  const [, only] = /^metadata\.name=(.+)$/.exec(query?.get('fieldSelector') ?? '') ?? [];
  return { collection: `${group}/${plural}`, namespace, name, only };
}

/** Whether a list or watch of the target shows the object. */
const shows = ({ namespace, only }: Target, { metadata }: StoredObject): boolean =>
  [undefined, metadata.namespace].includes(namespace) && [undefined, metadata.name].includes(only);

interface Watch {
  readonly target: Target;
  readonly response: ServerResponse;
}

/** Starts it on loopback, with TLS. */
export async function startSmallApiServer(): Promise<SmallApiServer> {
  const authority = createCertificateAuthority();
  const folder = temporaryFolder('api-server');
  const caFile = join(folder.path, 'ca.crt');
  writeFileSync(caFile, authority.cert);
  const kinds = new Map<string, Map<string, StoredObject>>();
  const watches = new Set<Watch>();
  let version = 100;

  const kindOf = (collection: string) => {
    const known = kinds.get(collection) ?? new Map<string, StoredObject>();
    kinds.set(collection, known);
    return known;
  };
  const keyOf = ({ namespace, name }: Target) => `${namespace ?? ''}/${name}`;
  const tell = (type: string, { collection }: Target, object: StoredObject) => {
    for (const { target, response } of watches)
      if (target.collection === collection && shows(target, object))
        response.write(`${JSON.stringify({ type, object })}\n`);
  };
  const store = (target: Target, object: StoredObject): StoredObject => {
    const before = kindOf(target.collection).get(keyOf(target));
    const { uid = randomUUID(), creationTimestamp = new Date().toISOString() } = before?.metadata ?? {};
    const { namespace, name } = target;
    const place = { name, ...(namespace !== undefined && { namespace }) };
    const metadata = {
      ...object.metadata,
      ...place,
      uid,
      creationTimestamp,
      resourceVersion: `${++version}`,
    };
    const stored = { ...object, metadata };
    kindOf(target.collection).set(keyOf(target), stored);
    tell(before === undefined ? 'ADDED' : 'MODIFIED', target, stored);
    return stored;
  };
  const remove = (target: Target) => {
    const before = kindOf(target.collection).get(keyOf(target));
    if (before !== undefined) tell('DELETED', target, before);
    kindOf(target.collection).delete(keyOf(target));
  };
  const patched = (target: Target, type: string, body: unknown): StoredObject => {
    const before = kindOf(target.collection).get(keyOf(target)) ?? { metadata: {} };
    if (type.includes('json-patch')) {
      const after = structuredClone(before);
      applyPatch(after, body as Operation[]);
      return store(target, after);
    }
    const { metadata, ...rest } = body as StoredObject;
    return store(target, { ...before, ...rest, metadata: { ...before.metadata, ...metadata } });
  };
  const list = (target: Target, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"metadata":{"resourceVersion":"${version}"},"items":[`);
    let separator = '';
    for (const object of kindOf(target.collection).values()) {
      if (!shows(target, object)) continue;
      response.write(separator + JSON.stringify(object));
      separator = ',';
    }
    response.end(']}');
  };
  const watch = (target: Target, response: ServerResponse) => {
    const open = { target, response };
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    watches.add(open);
    response.once('close', () => watches.delete(open));
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://api');
    const body = await bodyOf(request);
    if (pathname === '/version')
      return reply(response, 200, { major: '1', minor: '37', gitVersion: 'v1.37.1' });
    const target = targetOf(pathname, searchParams);
    if (target === undefined)
      return reply(response, 404, { kind: 'Status', code: 404, message: 'no such path' });
    const { method } = request;
    if (target.collection === tokenReviews) return reply(response, 201, reviewed(body as TokenReview));
    if (method === 'POST') {
      const { name = `made-${version}` } = (body as StoredObject).metadata ?? {};
      return reply(response, 201, store({ ...target, name }, body as StoredObject));
    }
    if (target.name === undefined)
      return searchParams.has('watch') ? watch(target, response) : list(target, response);
    if (method === 'PUT') return reply(response, 200, store(target, body as StoredObject));
    if (method === 'PATCH')
      return reply(response, 200, patched(target, request.headers['content-type'] ?? '', body));
    const found = kindOf(target.collection).get(keyOf(target));
    if (method === 'DELETE') remove(target);
    return found === undefined
      ? reply(response, 404, { kind: 'Status', code: 404, message: 'not found' })
      : reply(response, 200, found);
  };
  const server = createServer(authority.issue({ commonName: 'api' }), (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const { port, stop } = await listen(server);
  return {
    ...{ port, caFile, adminToken: 'token-of-the-test' },
    put(path, object) {
      const target = targetOf(`${path}/${object.metadata.name}`);
      if (target === undefined) throw new Error(`${path} is no collection`);
      store(target, object);
    },
    get(path) {
      const target = targetOf(path);
      return target && kindOf(target.collection).get(keyOf(target));
    },
    async stop() {
      await stop();
      await folder.remove();
    },
  };
}

const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';

interface TokenReview {
  readonly spec: { readonly token: string; readonly audiences: readonly string[] };
}

/** `token.of.<node>` is the token of the agent of a node. */
function reviewed({ spec: { token, audiences } }: TokenReview): object {
  const [, node] = /^token\.of\.(.+)$/.exec(token) ?? [];
  if (node === undefined) return { status: { authenticated: false } };
  const facts = { 'node-name': node, 'pod-name': `svc-ebpf-${node}`, 'pod-uid': `uid-${node}` };
  const extra = Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`authentication.kubernetes.io/${name}`, [value]]),
  );
  const user = { username: 'system:serviceaccount:svc-system:svc-ebpf', extra };
  return { status: { authenticated: true, audiences, user } };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

function reply(response: ServerResponse, status: number, object: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(object));
}
