import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Store } from './store.ts';

export function demoServer(store: Store, named: readonly string[]): Server {
  return createServer((request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return send(response, { status: 405, body: { error: 'method not allowed' } });
    }
    const [path = '/'] = (request.url ?? '/').split('?');
    send(response, responseTo(path, store, named));
  });
}

function send(response: ServerResponse, { status, body }: DemoResponse): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}

interface DemoResponse {
  readonly status: number;
  readonly body: unknown;
}

/** The demo's response from the current store. @param named further keys to show */
function responseTo(path: string, store: Store, named: readonly string[]): DemoResponse {
  switch (path) {
    case '/':
      return { status: 200, body: overview(store, named) };
    case '/health':
      return { status: 200, body: { status: 'ok', delivery: delivery(store) } };
    case '/protected':
      return { status: 200, body: { secrets: names(store, named).map((key) => masked(store, key)) } };
    default:
      return { status: 404, body: { error: 'not found' } };
  }
}

export function delivery(store: Store): 'memfd_secret' | 'env_vars' {
  return store.state === 'nil' ? 'env_vars' : 'memfd_secret';
}

function overview(store: Store, named: readonly string[]): { keys: string[]; count: number } {
  const keys = names(store, named).filter((key) => store.has(key));
  return { keys, count: keys.length };
}

function masked(store: Store, key: string): { key: string; available: boolean; value: string } {
  const available = store.has(key);
  return { key, available, value: available ? mask(store.get(key)) : '' };
}

function names(store: Store, named: readonly string[]): string[] {
  return [...new Set([...(store.keys() ?? []), ...named])];
}

const shownCharacters = 2;
const hiddenUpTo = 8;
const covered = '****';

/** The first and last two characters of a value of more than eight, without its length. */
export function mask(value: string): string {
  if (value === '') return '';
  const characters = [...value];
  if (characters.length <= hiddenUpTo) return covered;
  const shown = [characters.slice(0, shownCharacters), characters.slice(-shownCharacters)];
  return shown.map((part) => part.join('')).join(covered);
}
