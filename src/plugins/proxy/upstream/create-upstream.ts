import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { CredentialSource } from '../../../runtime/object-store/credentials.ts';
import type { ProxyConfig } from '../config.ts';
import { Denials } from './denials.ts';
import { endpointOf } from './endpoint.ts';
import { type BodyForm, bodyForm, framingHeaders } from './framing.ts';
import { httpWires } from './http-wires.ts';
import { type WireLimits, wireLimits } from './limits.ts';
import { type Report, received, reporter } from './received.ts';
import { RequestComposer } from './request-composer.ts';
import { StreamedUpload } from './streamed-upload.ts';
import type { Upstream, UpstreamRequest, UpstreamResponse, UpstreamUpload } from './upstream.ts';
import type { Wire, WireHead, WireOpener } from './wire.ts';

export type UpstreamConfig = Pick<
  ProxyConfig,
  'upstream' | 'region' | 'upstreamSigning' | 'upstreamChecksum'
>;

export interface UpstreamParts {
  readonly credentials: CredentialSource;
  /** PEM certificates to trust in place of Node's own. */
  readonly ca?: string | undefined;
  readonly limits?: Partial<WireLimits>;
}

export function createUpstream(config: UpstreamConfig, log: Logger, parts: UpstreamParts): Upstream {
  const endpoint = endpointOf(config.upstream);
  const wires = httpWires(endpoint, { ...wireLimits, ...parts.limits }, parts.ca);
  const composer = new RequestComposer(endpoint, config.region, parts.credentials);
  return new StoreRoad(wires, composer, bodyForm(config), log);
}

/** From this length on the store is asked before the body is sent: a refusal then costs nothing. */
const askFrom = 1024 * 1024;
const emptySha256 = hash('sha256', '', 'hex');
const noBody = new Uint8Array(0);

class StoreRoad implements Upstream {
  readonly #wires: WireOpener;
  readonly #composer: RequestComposer;
  readonly #form: BodyForm;
  readonly #log: Logger;
  readonly #denials: Denials;

  constructor(wires: WireOpener, composer: RequestComposer, form: BodyForm, log: Logger) {
    this.#wires = wires;
    this.#composer = composer;
    this.#form = form;
    this.#log = log;
    this.#denials = new Denials(log);
  }

  async send(request: UpstreamRequest, body: Uint8Array = noBody): Promise<UpstreamResponse> {
    const payload = body.length === 0 ? emptySha256 : hash('sha256', body, 'hex');
    const { head } = await this.#composer.compose(request, payload, lengthHeader(request.method, body));
    const wire = this.#open(head, request, body);
    const report = reporter(this.#log, request);
    if (body.length > 0 || (request.method !== 'GET' && request.method !== 'HEAD'))
      return this.#received(request, wire, report);
    await wire.response.catch(() => undefined);
    if (!wire.stale) return this.#received(request, wire, report);
    await pause(request.signal);
    return this.#received(request, this.#open(head, request, body), report);
  }

  async upload(request: UpstreamRequest, length: number): Promise<UpstreamUpload> {
    const framing = {
      ...framingHeaders(this.#form, length),
      expect: length < askFrom ? undefined : '100-continue',
    };
    const { head, chunks } = await this.#composer.compose(request, this.#form.payload, framing);
    const wire = await this.#openAsking(head, request);
    const failed = reporter(this.#log, request);
    const answer = () => this.#received(request, wire, failed);
    return new StreamedUpload(wire, { length, framing: this.#form.framing, chunks, answer, failed });
  }

  close(): void {
    this.#wires.close();
  }

  async #received({ method }: UpstreamRequest, wire: Wire, report: Report): Promise<UpstreamResponse> {
    const response = await received(wire, report);
    this.#denials.note(method, response.status);
    return response;
  }

  #open(head: WireHead, { signal }: UpstreamRequest, body: Uint8Array): Wire {
    const wire = this.#wires.open(head, signal);
    wire.end(body.length === 0 ? [] : [body]);
    return wire;
  }

  /** A kept connection that the store had closed is found out before the body is spent on it. */
  async #openAsking(head: WireHead, { signal }: UpstreamRequest): Promise<Wire> {
    const wire = this.#wires.open(head, signal);
    await wire.agreed;
    if (!wire.stale) return wire;
    await pause(signal);
    const again = this.#wires.open(head, signal);
    await again.agreed;
    return again;
  }
}

/** Long enough for other connections that the store has closed to be dropped, and not the same for all. */
function pause(signal: AbortSignal | undefined): Promise<void> {
  return delay(5 + Math.random() * 45, undefined, signal && { signal });
}

/** A GET has no length; a PUT without body has length 0. */
function lengthHeader(method: string, body: Uint8Array): Record<string, string> {
  if (body.length === 0 && method !== 'PUT' && method !== 'POST') return {};
  return { 'content-length': String(body.length) };
}
