import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../support/loopback.ts';
import type { Stoppable } from '../../support/types.ts';
import { formsOf, type Secret } from './search.ts';

/** What the server does where a secret is asked for: answers somehow. */
export type Mischief = (response: ServerResponse) => unknown;

export interface HostileServer extends Stoppable {
  readonly url: string;
  /** From now on. */
  mischief: Mischief | undefined;
}

/** A key server that knows tokens and has one secret, until it turns hostile. */
export async function startHostileServer(fields: Readonly<Record<string, string>>): Promise<HostileServer> {
  const handle: { mischief: Mischief | undefined } = { mischief: undefined };
  const server = createServer(async (request, response) => {
    await request.resume().toArray();
    const honest = honestAnswer(request, fields);
    if (handle.mischief !== undefined && isAboutSecrets(request)) handle.mischief(response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(honest));
  });
  const own = await listen(server);
  return Object.assign(handle, {
    url: own.url,
    stop: own.stop,
  });
}

const isAboutSecrets = ({ url = '' }: IncomingMessage): boolean => !url.includes('/auth/token/');

function honestAnswer({ url = '' }: IncomingMessage, fields: Readonly<Record<string, string>>): unknown {
  if (url.includes('/auth/token/renew-self'))
    return { auth: { client_token: 's.renewed', lease_duration: 3600, renewable: true } };
  if (url.includes('/auth/token/')) return { data: { ttl: 3600, renewable: false, expire_time: 'later' } };
  if (url.includes('/mounts/')) return { data: { path: 'secret/', type: 'kv', options: { version: '2' } } };
  return { data: { data: fields, metadata: { version: 1 } } };
}

/** Every form of every secret that a text may have. */
export const everyFormOf = (secrets: readonly Secret[]): string[] =>
  secrets.flatMap(({ bytes }) => {
    const forms = formsOf(bytes).filter(({ name }) => name !== 'UTF-16');
    return forms.map((form) => form.bytes.toString('latin1'));
  });

const statuses = [400, 403, 404, 405, 412, 429, 473, 500, 502, 503];

export interface Mischiefs {
  /** Secrets in a body, which the reader keeps in secret memory. */
  readonly bodies: Readonly<Record<string, Mischief>>;
  /** Secrets in the head of an answer, which the reader takes for text. */
  readonly heads: Readonly<Record<string, Mischief>>;
}

/** Ways to bring secrets into what the reader may say of an answer. */
export function mischiefs(secrets: readonly Secret[]): Mischiefs {
  const forms = everyFormOf(secrets);
  const plain = secrets.map(({ bytes }) => bytes.toString('latin1'));
  return { bodies: badBodies(forms, plain), heads: badHeads(forms, plain) };
}

function badBodies(forms: readonly string[], [first, second]: readonly string[]): Record<string, Mischief> {
  const told = statuses.map((status) => [`complaints with ${status}`, json({ errors: forms }, status)]);
  const store = { path: 'secret/', type: 'kv', options: { version: '2' } };
  return {
    ...Object.fromEntries(told),
    'no JSON': (response) => response.end(forms.join(' ')),
    'JSON that is cut': (response) => response.end(JSON.stringify({ data: { data: forms } }).slice(0, -3)),
    'data of another shape': json({ data: { data: forms } }),
    'a type of store': json({ data: { path: first, type: second, options: { version: first } } }),
    'a value with a NUL': json({ data: { data: { NUL: `${first}\0${second}` }, ...store } }),
    'complaints of another shape': json({ errors: first, warnings: forms, data: null }, 400),
  };
}

function badHeads(forms: readonly string[], plain: readonly string[]): Record<string, Mischief> {
  const headers = plain.map((text, index) => `X-Echo-${index}: ${text}`);
  const ok = 'HTTP/1.1 200 OK';
  return {
    'a redirect': raw(
      'HTTP/1.1 307 Go',
      `Location: http://127.0.0.1/${plain.join('/')}`,
      'Content-Length: 0',
    ),
    'a status line': raw(`HTTP/1.1 ${plain.join(' ')}`, ...headers),
    'a bad header': raw(ok, ...plain),
    'a content coding': raw(ok, `Content-Encoding: ${plain[0]}`),
    'a length': raw(ok, `Content-Length: ${plain[0]}`),
    'a chunk': raw(ok, 'Transfer-Encoding: chunked', '', ...plain),
    'an answer that ends early': raw(ok, ...headers, 'Content-Length: 9999', '', ...forms),
  };
}

const json =
  (body: unknown, status = 200): Mischief =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const raw =
  (...lines: readonly string[]): Mischief =>
  ({ socket }) =>
    socket?.end(`${lines.join('\r\n')}\r\n\r\n`);
