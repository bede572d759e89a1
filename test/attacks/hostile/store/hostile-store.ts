import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import type { Stoppable } from '../../../support/types.ts';
import { MemoryS3, refusal } from './memory-s3.ts';
import type { StoreReply, StoreRequest } from './model.ts';
import { type WirePlan, wireBytes } from './wire-plan.ts';

/** Who answers for one bucket. */
export interface StoreMind {
  /** Everything that came, before it is understood. */
  received(head: string, body: Buffer): void;
  /** `honest` does what was asked and says so. */
  answer(request: StoreRequest, honest: () => StoreReply): WirePlan;
}

export interface HostileStore extends Stoppable {
  readonly url: string;
  readonly s3: MemoryS3;
  /** Buckets without a mind are answered honestly. */
  readonly minds: Map<string, StoreMind>;
}

/**
 * An object store in memory over plain sockets, so that it can say what no HTTP library would.
 * It knows of requests what the proxy sends: a length, aws-chunked, `Expect`.
 */
export async function startHostileStore(): Promise<HostileStore> {
  const s3 = new MemoryS3();
  const minds = new Map<string, StoreMind>();
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    new Connection(socket, s3, minds);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1024, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    s3,
    minds,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

interface Head {
  readonly text: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly length: number;
}

class Connection {
  readonly #socket: Socket;
  readonly #s3: MemoryS3;
  readonly #minds: Map<string, StoreMind>;
  #waiting: Buffer[] = [];
  #size = 0;
  #head: Head | undefined;

  constructor(socket: Socket, s3: MemoryS3, minds: Map<string, StoreMind>) {
    this.#socket = socket;
    this.#s3 = s3;
    this.#minds = minds;
    socket.on('data', (chunk) => {
      this.#waiting.push(chunk);
      this.#size += chunk.length;
      this.#advance();
    });
  }

  #advance(): void {
    for (;;) {
      if (this.#head === undefined) {
        const all = this.#take();
        const end = all.indexOf('\r\n\r\n');
        if (end < 0) return this.#keep(all);
        this.#head = headOf(all.subarray(0, end).toString('latin1'));
        this.#keep(all.subarray(end + 4));
        if (this.#head.headers['expect'] !== undefined) this.#socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      }
      const head = this.#head;
      if (this.#size < head.length) return;
      const all = this.#take();
      this.#keep(all.subarray(head.length));
      this.#head = undefined;
      this.#serve(head, all.subarray(0, head.length));
    }
  }

  #take(): Buffer {
    const all = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#size = 0;
    return all;
  }

  #keep(rest: Buffer): void {
    if (rest.length === 0) return;
    this.#waiting = [rest];
    this.#size = rest.length;
  }

  #serve(head: Head, sent: Buffer): void {
    const { method, target, headers } = head;
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
    const mind = this.#minds.get(bucket);
    mind?.received(head.text, sent);
    const body = bodyOf(headers, sent);
    if (body === undefined) return void this.#send({ reply: refusal(400, 'BadDigest') }, method);
    const request = {
      method,
      bucket,
      key: decodeURIComponent(key),
      query: queryOf(mark < 0 ? '' : target.slice(mark + 1)),
      headers,
      body,
    };
    const honest = () => this.#s3.answer(request);
    void this.#send(mind === undefined ? { reply: honest() } : mind.answer(request, honest), method);
  }

  async #send(plan: WirePlan, method: string): Promise<void> {
    if (plan.silent) return;
    const { head, pieces } = wireBytes(plan, method);
    const socket = this.#socket;
    if (plan.pieces === undefined) socket.write(Buffer.concat([head, ...pieces]));
    else {
      socket.write(head);
      for (const piece of pieces) {
        await new Promise((resolve) => setTimeout(resolve, 4));
        socket.write(piece);
      }
    }
    if (plan.ending === 'fin') socket.end();
    else if (plan.ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 2);
  }
}

function headOf(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const [method = '', target = ''] = first.split(' ');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { text, method, target, headers, length: Number(headers['content-length'] ?? 0) };
}

function queryOf(text: string): ReadonlyMap<string, string> {
  return new Map([...new URLSearchParams(text)]);
}

/** What is stored of a request; undefined where its checksum does not hold. */
function bodyOf(headers: Head['headers'], sent: Buffer): Buffer | undefined {
  if (headers['x-amz-decoded-content-length'] === undefined) {
    const sum = headers['x-amz-checksum-crc32'];
    return sum === undefined || sum === crcOf(sent) ? sent : undefined;
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = sent.indexOf('\r\n', at);
    const size = Number.parseInt(sent.subarray(at, end).toString('latin1'), 16);
    if (end < 0 || Number.isNaN(size)) return undefined;
    if (size === 0) {
      const body = Buffer.concat(chunks);
      if (headers['x-amz-trailer'] === undefined) return body;
      const sum = /x-amz-checksum-crc32:\s*(\S+)/.exec(sent.subarray(end).toString('latin1'))?.[1];
      return sum === crcOf(body) ? body : undefined;
    }
    chunks.push(sent.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

function crcOf(body: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return sum.toString('base64');
}
