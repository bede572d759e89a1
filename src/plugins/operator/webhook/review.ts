import type { IncomingMessage, ServerResponse } from 'node:http';
import { Budget } from '../../../core/budget.ts';
import { SvcError } from '../../../core/errors.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';

/** The fields of an AdmissionReview's request that are read. Source: admission.k8s.io/v1. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly namespace: string;
  /** Of the object; empty if `generateName` sets it later. */
  readonly name: string;
  readonly dryRun: boolean;
  /** The requesting user, for the log. */
  readonly user: string;
  readonly pod: Pod;
}

/** @throws SvcError ADMISSION_INVALID if the text is not an AdmissionReview (v1) of a pod */
export function readReview(text: string): AdmissionRequest {
  if (partsOf(text) > mostParts) throw invalid(`it has more than ${mostParts} objects and lists`);
  const review = parsed(text);
  const request = objectIn(review, 'request');
  const object = objectIn(request, 'object');
  if (objectIn(request, 'kind')['kind'] !== 'Pod' || request['subResource'])
    throw invalid('it is not about a pod');
  if (!isObject(object['metadata'] ?? {})) throw invalid('its pod has no metadata');
  if (!Array.isArray(objectIn(object, 'spec')['containers'])) throw invalid('its pod has no containers');
  return {
    uid: textIn(request, 'uid'),
    operation: textIn(request, 'operation'),
    namespace: textIn(request, 'namespace'),
    name: String(request['name'] ?? ''),
    dryRun: request['dryRun'] === true,
    user: String(objectIn(request, 'userInfo')['username'] ?? ''),
    pod: { ...object, metadata: object['metadata'] ?? {} } as unknown as Pod,
  };
}

/** The response to the API server. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  /** Base64 of a JSON patch. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch';
  readonly warnings?: readonly string[];
}

export function writeReview(response: AdmissionResponse): string {
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

/** A pod of 500 containers with 100 variables each has 100,000 objects. */
const mostParts = 200_000;
const shortest = 256 * 1024;

/**
 * Upper bound of the number of objects and lists, each of which takes much more memory than its two characters. 0 if
 * the text is too short to matter.
 */
function partsOf(text: string): number {
  if (text.length < shortest) return 0;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') parts++;
  }
  return parts;
}

type Members = Readonly<Record<string, unknown>>;

function parsed(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && value['kind'] === 'AdmissionReview') return value;
  } catch (cause) {
    throw invalid('it is no JSON', cause);
  }
  throw invalid('it is of another kind');
}

function objectIn(value: Members, name: string): Members {
  const found = value[name];
  return isObject(found) ? found : {};
}

function textIn(value: Members, name: string): string {
  const found = value[name];
  if (typeof found === 'string' && found !== '') return found;
  throw invalid(`request.${name} is missing`);
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(why: string, cause?: unknown): SvcError {
  return new SvcError('ADMISSION_INVALID', `The request is not an AdmissionReview of a pod: ${why}`, {
    nextStep: 'Only the API server calls this webhook; check the rules of its MutatingWebhookConfiguration.',
    cause,
  });
}

/** A pod takes at most 1.5 MiB in etcd, and the API server sends it once, as JSON. */
export const largestReview = 4 * 1024 * 1024;

/** A body that is incomplete after this time is aborted if others wait for its memory. */
const patienceMs = 3_000;

export type Body =
  | { readonly kind: 'text'; readonly text: string }
  /** Longer than `largestReview`. */
  | { readonly kind: 'too long' }
  /** No memory became free in time. */
  | { readonly kind: 'no room' }
  /** The caller disconnected or was too slow. */
  | { readonly kind: 'broken off' };

/** Reads the whole body. Memory for its declared length is reserved until the response. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  room: ReviewMemoryLimit,
  signal: AbortSignal,
): Promise<Body> {
  const length = Number(request.headers['content-length'] ?? largestReview);
  if (length > largestReview) return { kind: 'too long' };
  const leave = await room.enter(length, signal);
  if (leave === undefined) return { kind: 'no room' };
  if (response.closed) leave();
  else response.once('close', leave);
  const patience = setInterval(() => {
    // data that has arrived meanwhile is read first
    if (room.full) setImmediate(() => request.complete || request.destroy());
  }, patienceMs);
  try {
    return await filled(Buffer.allocUnsafeSlow(length), request);
  } catch {
    return { kind: 'broken off' };
  } finally {
    clearInterval(patience);
  }
}

/** Copies the chunks into one buffer: kept chunks cost an object each, however small the caller makes them. */
async function filled(bytes: Buffer, request: IncomingMessage): Promise<Body> {
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size + chunk.length > bytes.length) return { kind: 'too long' };
    size += chunk.copy(bytes, size);
  }
  return { kind: 'text', text: bytes.toString('utf8', 0, size) };
}

/** Returns reserved memory; called once. */
export type Leave = () => void;

/**
 * Memory for reviews that are being read or decided, by the length of their bodies. Reviews that do not fit wait
 * unread, and the smallest is admitted first, so that a few large reviews, or callers that only announce large ones, do
 * not keep ordinary ones out.
 */
export interface ReviewMemoryLimit {
  /** Whether a review waits. */
  readonly full: boolean;
  /** @returns undefined if the signal was aborted before there was room */
  enter(bytes: number, signal: AbortSignal): Promise<Leave | undefined>;
}

/** @param most bytes; a larger review is never admitted */
export function createReviewMemoryLimit(most: number): ReviewMemoryLimit {
  const budget = new Budget(most, 'smallest');
  return {
    get full() {
      return budget.waiting > 0;
    },
    async enter(bytes, signal) {
      if (signal.aborted) return undefined;
      const share = budget.ask(bytes);
      signal.addEventListener('abort', share.giveUp, { once: true });
      const granted = await share.granted;
      signal.removeEventListener('abort', share.giveUp);
      return granted ? () => share.release() : undefined;
    },
  };
}
