import { Readable } from 'node:stream';
import type { ObjectServices, OperationHandler, ResponseWriter } from '../../../objects/context.ts';
import { maxStoredBytes } from '../../../objects/format/cipher.ts';
import type { ObjectName } from '../../../objects/format/metadata.ts';
import { RequestMemory } from '../../../objects/held-memory.ts';
import { createPayload } from '../../../objects/s3/received-payload.ts';
import { queryOf } from '../../../objects/s3/request.ts';
import { refusalOf } from '../../../objects/upstream/upstream.ts';
import type { BlockBody } from '../../../runtime/bounds/block-body.ts';

/** A request as a caller of the proxy would send it. */
export interface LocalRequest {
  readonly method: string;
  readonly name: ObjectName;
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** As a caller sends them, describing the plaintext. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Buffer>;
  /** Plaintext bytes of the body. */
  readonly length?: number;
  /** Replaces `body`; checksum headers do not refer to the document. */
  readonly document?: string;
  readonly signal: AbortSignal;
}

export interface LocalAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * Runs one of the proxy's own handlers in this process, so that it writes exactly what the proxy would.
 * @throws errors of the handler: S3Error, EnvelopeError, VaultError
 */
export async function callHandler(
  services: ObjectServices,
  handler: OperationHandler,
  { method, name, query = [], headers, signal, ...sent }: LocalRequest,
): Promise<LocalAnswer> {
  const answer = new CollectedAnswer();
  const { length = 0, body = nothing() } = sent.document === undefined ? sent : bodyOf(sent.document);
  const framing = { 'content-length': String(length) };
  const all = { ...headers, ...framing };
  const ofBody = sent.document === undefined ? all : framing;
  const target = { rawPath: `/${name.bucket}/${name.key}`, rawQuery: '', query: queryOf(query) };
  const ends: (() => void)[] = [];
  const memory = new RequestMemory(services.memory, signal);
  try {
    await handler(services, {
      request: { id: 'migrate', method, ...name, ...target, headers: all },
      payload: createPayload({
        headers: ofBody,
        signature: undefined,
        raw: () => body,
        limit: maxStoredBytes,
      }),
      answer,
      memory,
      signal,
      atEnd: (release) => void ends.push(release),
      log: services.log,
      keyVersion: undefined,
    });
  } finally {
    for (const release of ends) release();
    memory.release();
  }
  // an operation that takes long can end in an error after status 200 was sent
  if (/^(<\?xml[^>]*>)?\s*<Error[\s>]/.test(answer.text)) throw refusalOf(200, answer.text);
  return answer;
}

async function* nothing(): AsyncGenerator<Buffer> {}

function bodyOf(document: string): Required<Pick<LocalRequest, 'body' | 'length'>> {
  const bytes = Buffer.from(document);
  return { body: Readable.from([bytes]), length: bytes.length };
}

/** Collects an answer as text; answers to writes are short. */
class CollectedAnswer implements ResponseWriter {
  headers: LocalAnswer['headers'] = {};
  text = '';
  started = false;

  head(_status: number, headers: LocalAnswer['headers']): void {
    this.headers = { ...this.headers, ...headers };
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.started = true;
    this.text += Buffer.from(chunk).toString();
  }

  async end(last?: Uint8Array | string | BlockBody): Promise<void> {
    this.started = true;
    if (typeof last === 'string') this.text += last;
    else if (last instanceof Uint8Array) this.text += Buffer.from(last).toString();
    else if (last !== undefined) throw new TypeError('no write answers with a body in blocks');
  }

  destroy(reason: Error): void {
    throw reason;
  }
}
