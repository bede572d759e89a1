import { connect, type Socket } from 'node:net';
import type { ObjectServices, OperationHandler } from '../../../../src/objects/context.ts';
import { MemoryBudget } from '../../../../src/objects/held-memory.ts';
import type { OperationName } from '../../../../src/objects/s3/operation.ts';
import type { ServerMetrics } from '../../../../src/plugins/proxy/metrics.ts';
import { createAuthenticate, RequestSlots } from '../../../../src/plugins/proxy/server/admit-request.ts';
import { createDispatch } from '../../../../src/plugins/proxy/server/dispatch.ts';
import { startServer } from '../../../../src/plugins/proxy/server/server.ts';
import type { Logger } from '../../../../src/runtime/logging/logger.ts';
import { Connections } from '../../../../src/runtime/net/connections.ts';

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps what it is told. */
export function recordingLog(lines: LogLine[] = []): Logger & { readonly lines: LogLine[] } {
  const at =
    (level: string) =>
    (event: string, fields = {}) =>
      void lines.push({ level, event, fields });
  return {
    lines,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => recordingLog(lines),
  };
}

export interface Counted {
  readonly requests: string[];
  readonly refused: string[];
  inFlight: number;
  sent: number;
}

function countingMetrics(): ServerMetrics & { readonly counted: Counted } {
  const counted: Counted = { requests: [], refused: [], inFlight: 0, sent: 0 };
  return {
    counted,
    request: (operation, status) => void counted.requests.push(`${operation} ${status}`),
    refused: (reason) => void counted.refused.push(reason),
    bytes: () => undefined,
    inFlight: (by) => {
      counted.inFlight += by;
    },
    sent: (bytes) => {
      counted.sent += bytes;
    },
    keyServerHangs: () => undefined,
  };
}

export interface ServeOptions {
  readonly callerKeys?: { accessKeyId: string; secretAccessKey: string };
  readonly stateBucket?: string;
  readonly stallMs?: number;
  /** Further rooms that the handlers under test use. */
  readonly context?: Partial<ObjectServices>;
  readonly connections?: Connections;
}

/** The real server in front of given handlers; whatever they do not name answers 500. */
export async function serve(
  routes: Partial<Record<OperationName, OperationHandler>>,
  options: ServeOptions = {},
) {
  const log = recordingLog();
  const metrics = countingMetrics();
  const { stateBucket } = options;
  const config = { reservedPrefix: '.svc/', stateBucket } as ObjectServices['config'];
  const memory = new MemoryBudget();
  const context = { config, log, metrics, memory, ...options.context } as ObjectServices;
  const draining = new AbortController();
  const connections = options.connections ?? new Connections();
  const server = await startServer(
    { listen: { host: '127.0.0.1', port: 0 }, tls: undefined },
    {
      log,
      signal: new AbortController().signal,
      connections,
      memory,
      dispatch: createDispatch({
        services: context,
        metrics,
        authenticate: createAuthenticate({
          callerKeys: options.callerKeys,
          listen: { host: '127.0.0.1' },
          hosts: ['h', 'a'],
        }),
        routes: routes as Record<OperationName, OperationHandler>,
        stallMs: options.stallMs ?? 20_000,
        signal: draining.signal,
        slots: new RequestSlots({ served: 128, waiting: 0, memory, makeRoom: () => undefined }),
        onRefused: (socket, response) => connections.refused(socket, response),
        accessLog: undefined,
      }),
    },
  );
  const port = Number(server.address.split(':').at(-1));
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    lines: log.lines,
    counted: metrics.counted,
    stop: () => {
      draining.abort();
      return server.drain();
    },
  };
}

/** A connection on which a test writes what it likes. */
export class RawClient {
  readonly socket: Socket;
  #received = '';
  #ended = false;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => {
      this.#received += chunk.toString('latin1');
    });
    this.socket.on('error', () => undefined);
    for (const event of ['end', 'close'])
      this.socket.on(event, () => {
        this.#ended = true;
      });
  }

  get received(): string {
    return this.#received;
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Resolves when `text` has come in; rejects when the connection ends without it. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text)) {
      if (this.#ended) throw new Error(`the connection ended, with ${JSON.stringify(this.#received)}`);
      await this.#change();
    }
    return this.#received;
  }

  /** Everything until the server ends the connection. */
  async rest(): Promise<string> {
    while (!this.#ended) await this.#change();
    this.socket.destroy();
    return this.#received;
  }

  /** A reset is an end too, so errors are not waited for. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      for (const event of ['data', 'end', 'close']) this.socket.once(event, () => resolve());
    });
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Text of an element of an error document. */
export const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
