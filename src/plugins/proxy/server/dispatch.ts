import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { ObjectServices, OperationHandler, RequestContext } from '../../../objects/context.ts';
import { faultOf, reportFault } from '../../../objects/fault.ts';
import { maxPlaintextBytes } from '../../../objects/format/cipher.ts';
import { type HeldMemory, type PacedCaller, RequestMemory } from '../../../objects/held-memory.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { joinRepeated } from '../../../objects/s3/headers.ts';
import { classify, type OperationName } from '../../../objects/s3/operation.ts';
import { createPayload, hasBody } from '../../../objects/s3/received-payload.ts';
import { mergeHoisted, parseTarget, type S3Request } from '../../../objects/s3/request.ts';
import type { VerifiedSignature } from '../../../objects/s3/sigv4-verify.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { resetSocket } from '../../../runtime/net/accepted-sockets.ts';
import { movedBy } from '../../../runtime/net/pace.ts';
import type { ServerMetrics } from '../metrics.ts';
import type { AccessLog } from './access-log.ts';
import {
  type Authenticate,
  RequestSlots,
  refuseAmbiguous,
  refuseReserved,
  withMemory,
} from './admit-request.ts';
import { answerFault } from './answer-fault.ts';
import {
  type BodyReaderOptions,
  ClientDisconnected,
  HttpResponseWriter,
  readRawBody,
  readWholeBody,
} from './client-streams.ts';
import { Drain } from './drain.ts';

export interface Dispatching {
  readonly services: ObjectServices;
  readonly metrics: ServerMetrics;
  readonly authenticate: Authenticate;
  readonly routes: Readonly<Record<OperationName, OperationHandler>>;
  /** Milliseconds without a byte from or to the caller. */
  readonly stallMs: number;
  /** Aborted when the process drains; connections are then closed after their response. */
  readonly signal: AbortSignal;
  readonly slots: RequestSlots;
  /** Called for a request that is refused unauthenticated, while the rest of its body may still arrive. */
  readonly onRefused: (socket: Socket, response: ServerResponse) => void;
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLog | undefined;
}

interface Serves extends Dispatching {
  readonly drain: Drain;
  readonly preflights: RequestSlots;
}

/**
 * Serves one request to its end; never rejects. `expectsContinue`: the caller sends its body only after a 100 response.
 * `head`: the memory of the head, which the server releases at the end of the response.
 */
export type Dispatch = (
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  head: HeldMemory,
) => Promise<void>;

/**
 * Preflights served at a time. Anyone who reaches the port may send them, so they take no slots of authenticated
 * callers.
 */
const preflightsAtOnce = 8;

export function createDispatch(dispatching: Dispatching): Dispatch {
  const { memory } = dispatching.services;
  const bounds = { served: preflightsAtOnce, waiting: 0, memory, makeRoom: () => undefined };
  const serves = { ...dispatching, preflights: new RequestSlots(bounds), drain: new Drain() };
  return (request, response, expectsContinue, head) =>
    new Serving(serves, request, response, expectsContinue, head).run();
}

class Serving {
  readonly #with: Serves;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #answer: HttpResponseWriter;
  readonly #id = requestIds.next();
  readonly #gone = new AbortController();
  readonly #memory: RequestMemory;
  readonly #begun = performance.now();
  readonly #head: HeldMemory;
  readonly #hasBody: boolean;
  #awaitsContinue: boolean;
  #leaveSlot = (): void => undefined;
  readonly #atEnd: (() => void)[] = [];
  #operation = 'Unknown';
  #admitted: S3Request | undefined;
  #caller: string | undefined;
  #context: RequestContext | undefined;
  #code: string | undefined;
  #received = 0;
  #sent = 0;

  constructor(
    dispatching: Serves,
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    head: HeldMemory,
  ) {
    this.#with = dispatching;
    this.#head = head;
    this.#hasBody = hasBody(request.headers);
    this.#request = request;
    this.#response = response;
    this.#awaitsContinue = expectsContinue;
    this.#memory = new RequestMemory(
      dispatching.services.memory,
      this.#gone.signal,
      callerAt(request.socket),
    );
    this.#answer = new HttpResponseWriter(response, {
      stallMs: dispatching.stallMs,
      mayReuse: () => !dispatching.signal.aborted && this.#bodyIsRead(),
      sent: (bytes) => {
        this.#sent += bytes;
        dispatching.metrics.sent(bytes);
      },
    });
    response.on('close', () => response.writableFinished || this.#gone.abort(new ClientDisconnected()));
  }

  async run(): Promise<void> {
    const { metrics } = this.#with;
    metrics.inFlight(1);
    try {
      this.#answer.head(200, { 'x-amz-request-id': this.#id, 'x-amz-id-2': this.#id, server: 'svc' });
      await this.#serve();
    } catch (error) {
      await this.#fail(error).catch(() => this.#answer.destroy(new ClientDisconnected()));
    } finally {
      this.#release();
      metrics.inFlight(-1);
      metrics.request(this.#operation, this.#statusForMetrics(), (performance.now() - this.#begun) / 1000);
      this.#logAccess();
    }
  }

  async #serve(): Promise<void> {
    const { services, authenticate, routes, slots, preflights } = this.#with;
    const { request, operation, signature } = this.#admit(authenticate);
    this.#admitted = request;
    this.#leaveSlot = await (request.method === 'OPTIONS' ? preflights : slots).enter(
      this.#gone.signal,
      this.#awaitsContinue ? 0 : bytesBeforeRead(request.headers),
    );
    refuseReserved(request, services.config);
    const context = this.#contextOf(request, signature);
    this.#context = context;
    judgeLength(operation, context);
    await routes[operation](services, context);
  }

  /**
   * Parses and authenticates a request. Unsupported requests are refused as such before the signature check: POST forms
   * carry their signature in the body.
   */
  #admit(authenticate: Authenticate): Admitted {
    refuseAmbiguous(this.#request);
    const { method = '', url = '', rawHeaders } = this.#request;
    const headers = joinRepeated(this.#request.headers, rawHeaders);
    const { bucket, key, rawPath, rawQuery, query, hoisted } = parseTarget(url, headers.host);
    const merged = mergeHoisted(headers, hoisted);
    const request = { id: this.#id, method, bucket, key, rawPath, rawQuery, query, headers: merged };
    const operation = classify(request);
    this.#operation = operation.name;
    if (operation.name === 'Refused') throw operation.error;
    const signature = authenticate({ method, rawPath, rawQuery, headers });
    this.#caller = signature?.accessKeyId;
    return { request, operation: operation.name, signature };
  }

  #contextOf(request: S3Request, signature: VerifiedSignature | undefined): RequestContext {
    const { services } = this.#with;
    const payload = createPayload({
      headers: this.#operation === 'CompleteMultipartUpload' ? ofDocument(request.headers) : request.headers,
      signature,
      limit: maxPlaintextBytes,
      nextTurn: setImmediate,
      raw: () => readRawBody(this.#request, this.#reading()),
      whole: (length) => readWholeBody(this.#request, length, this.#reading()),
      onVerified: (checksums) => this.#showChecksums(checksums),
    });
    const createLog = () => services.log.child({ requestId: this.#id, operation: this.#operation });
    let log: Logger | undefined;
    return {
      request,
      payload: withMemory(payload, this.#memory),
      answer: this.#answer,
      memory: this.#memory,
      signal: this.#gone.signal,
      atEnd: (release) => void this.#atEnd.push(release),
      keyVersion: undefined,
      /** Created on demand: a child logger costs more than a small request can spare, and few requests log. */
      get log() {
        log ??= createLog();
        return log;
      },
    };
  }

  #reading(): BodyReaderOptions {
    const onStart = () => {
      if (this.#awaitsContinue) this.#response.writeContinue();
      this.#awaitsContinue = false;
    };
    const received = (bytes: number) => {
      this.#received += bytes;
    };
    return { stallMs: this.#with.stallMs, onStart, received };
  }

  /** Clients compare the returned checksums with what they sent. */
  #showChecksums(checksums: Readonly<Record<string, string>>): void {
    if (this.#operation === 'PutObject' || this.#operation === 'UploadPart') {
      this.#answer.head(this.#answer.status, checksums);
    }
  }

  async #fail(error: unknown): Promise<void> {
    const { services: context, metrics } = this.#with;
    this.#release();
    // a write may fail before the connection's close event
    if (error instanceof ClientDisconnected) this.#gone.abort(error);
    if (this.#gone.signal.aborted) return;
    const log = context.log.child({ requestId: this.#id, operation: this.#operation });
    reportFault(error, log, metrics, this.#admitted);
    const { method = '', url = '' } = this.#request;
    const resource = url.split('?', 1)[0] ?? '';
    this.#answer.forget((name) => !ownHeaders.has(name));
    const fault = faultOf(error);
    this.#code = fault.code;
    if (this.#admitted === undefined) this.#giveWay();
    await answerFault(this.#answer, fault, {
      method,
      resource,
      requestId: this.#id,
      drain: () =>
        this.#awaitsContinue || this.#bodyIsRead() ? Promise.resolve() : this.#with.drain.rest(this.#request),
    });
  }

  /** The rest of a refused request's body may take seconds, and others need the memory and the connection. */
  #giveWay(): void {
    this.#with.onRefused(this.#request.socket, this.#response);
    this.#request.headers = {};
    this.#request.rawHeaders = [];
    this.#head.release();
  }

  #release(): void {
    this.#memory.release();
    for (const release of this.#atEnd.splice(0)) release();
    this.#leaveSlot();
  }

  #bodyIsRead(): boolean {
    return this.#request.readableEnded || !this.#hasBody;
  }

  #statusForMetrics(): number {
    return this.#gone.signal.aborted ? callerGoneStatus : this.#answer.status;
  }

  #logAccess(): void {
    const { services, accessLog } = this.#with;
    const [operation, status] = [this.#operation, this.#statusForMetrics()];
    const milliseconds = performance.now() - this.#begun;
    services.log.debug('proxy.request', {
      requestId: this.#id,
      ...{ operation, status },
      milliseconds: Math.round(milliseconds),
    });
    accessLog?.({
      id: this.#id,
      request: this.#admitted,
      ...{ operation, status, milliseconds, caller: this.#caller, code: this.#code },
      ...{ received: this.#received, sent: this.#sent, keyVersion: this.#context?.keyVersion },
    });
  }
}

const callerAt = (socket: Socket): PacedCaller => ({
  moved: () => movedBy(socket),
  end: () => resetSocket(socket),
});

interface Admitted {
  readonly request: S3Request;
  readonly operation: OperationName;
  readonly signature: VerifiedSignature | undefined;
}

/** Random request ids of 16 hexadecimal digits; random bytes are drawn for many ids at a time. */
class RequestIds {
  readonly #bytes = Buffer.alloc(2048);
  #at = 2048;

  next(): string {
    if (this.#at === this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#at = 0;
    }
    this.#at += 8;
    return this.#bytes.toString('hex', this.#at - 8, this.#at).toUpperCase();
  }
}

const requestIds = new RequestIds();

/** Checksums of a Complete refer to the resulting object, not to the list in its body. */
const ofDocument = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('x-amz-checksum-')));

const ownHeaders = new Set(['x-amz-request-id', 'x-amz-id-2', 'server']);

/** For metrics only: the connection closed before the response was complete. */
const callerGoneStatus = 499;

/**
 * Bytes of a body that may be read from a connection before the handler asks for them: two reads, as the first may
 * leave room.
 */
const maxBeforeRead = 128 * 1024;

function bytesBeforeRead(headers: IncomingHttpHeaders): number {
  if (!hasBody(headers)) return 0;
  return Math.min(Number(headers['content-length'] ?? maxBeforeRead), maxBeforeRead);
}

function judgeLength(operation: OperationName, { request, payload }: RequestContext): void {
  if (operation !== 'PutObject' && operation !== 'UploadPart') return;
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    throw s3Error('MissingContentLength');
  }
  if ((payload.length ?? 0) > maxPlaintextBytes) throw s3Error('EntityTooLarge');
}
