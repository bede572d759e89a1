import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Store } from '../store.ts';
import { type DemoResponse, responseTo } from './answers.ts';

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
