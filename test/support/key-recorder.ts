import { once } from 'node:events';
import { Agent, createServer, request as forward, type IncomingMessage } from 'node:http';
import { listen } from './loopback.ts';
import type { Stoppable } from './types.ts';

/** An HTTP relay in front of a key server that remembers every secret that passes. */
export interface KeyRecorder extends Stoppable {
  readonly url: string;
  /** Plaintext keys that were wrapped or unwrapped. */
  readonly keys: readonly Buffer[];
  /** Tokens that were used or given out by a login, and the JWTs that were shown for them. */
  readonly tokens: ReadonlySet<string>;
  /** All bodies that went to the key server. */
  sent(): Buffer;
}

/** @param target Plain HTTP. */
export async function startKeyRecorder(target: string): Promise<KeyRecorder> {
  const { hostname: host, port } = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const keys = new Map<string, Buffer>();
  const tokens = new Set<string>();
  const bodies: Buffer[] = [];
  const learn = (text: string) => {
    for (const key of keysIn(text)) keys.set(key.toString('hex'), key);
    for (const token of tokensIn(text)) tokens.add(token);
  };
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    try {
      const body = await bytesOf(request);
      bodies.push(body);
      learn(body.toString());
      const token = request.headers['x-vault-token'];
      if (typeof token === 'string') tokens.add(token);
      const { method, url: path, rawHeaders: headers } = request;
      const upstream = forward({ host, port, agent, method, path, headers, setHost: false }).end(body);
      const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
      const text = await bytesOf(answer);
      learn(text.toString());
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders).end(text);
    } catch {
      request.socket.destroy();
    }
  });
  const own = await listen(server);
  return {
    url: own.url,
    get keys() {
      return [...keys.values()];
    },
    tokens,
    sent: () => Buffer.concat(bodies),
    async stop() {
      agent.destroy();
      await own.stop();
    },
  };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const valuesOf = (text: string, names: string) =>
  [...text.matchAll(new RegExp(`"(?:${names})":\\s*"([^"]+)"`, 'g'))].map(([, value = '']) => value);

const keysIn = (text: string) => valuesOf(text, 'plaintext').map((value) => Buffer.from(value, 'base64'));
const tokensIn = (text: string) => valuesOf(text, 'client_token|jwt');
