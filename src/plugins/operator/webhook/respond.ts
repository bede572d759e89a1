import type { ServerResponse } from 'node:http';
import type { Decision } from './decide.ts';

/** The response to the API server, without its patch. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly reason: string; readonly message: string };
  readonly patchType?: 'JSONPatch';
  readonly warnings?: readonly string[];
}

const reasons = {
  400: 'BadRequest',
  403: 'Forbidden',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;

/** The API server cuts longer warnings off. */
const longestWarning = 250;

/** The response to the API server for a decision. */
export function responseFor(uid: string, decision: Decision): AdmissionResponse {
  if (decision.kind === 'skip') return { uid, allowed: true };
  if (decision.kind === 'deny') return { uid, allowed: false, status: refusal(decision) };
  return {
    ...{ uid, allowed: true, patchType: 'JSONPatch' },
    ...(decision.warnings.length > 0 && {
      warnings: decision.warnings.map((text) => `svc: ${text}`.slice(0, longestWarning)),
    }),
  };
}

function refusal({
  code,
  errors,
}: Extract<Decision, { kind: 'deny' }>): NonNullable<AdmissionResponse['status']> {
  const what = errors.length === 1 ? '' : `${errors.length} errors: `;
  const message = `svc refuses this pod, because it would start unprotected. ${what}${errors.join('; ')}`;
  return { code, reason: reasons[code], message };
}

/** An answer that is ready to be sent; the patch becomes base64 only then. */
export interface ReviewResponse {
  readonly head: string;
  /** JSON patch. */
  readonly patch: Buffer;
  readonly tail: string;
}

export function answerBytes(uid: string, decision: Decision): ReviewResponse {
  const response = responseFor(uid, decision);
  const text = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
  if (decision.kind !== 'inject') return { head: text, patch: Buffer.alloc(0), tail: '' };
  const tail = '"}}';
  return { head: `${text.slice(0, -2)},"patch":"`, patch: Buffer.from(JSON.stringify(decision.patch)), tail };
}

/** A multiple of three bytes: the base64 of the pieces is that of the whole. */
const pieceBytes = 48 * 1024;

export function* piecesOf({ head, patch, tail }: ReviewResponse): Generator<string> {
  if (patch.length <= pieceBytes) return yield head + patch.toString('base64') + tail;
  yield head;
  for (let at = 0; at < patch.length; at += pieceBytes) yield patch.toString('base64', at, at + pieceBytes);
  yield tail;
}

/** Sends the answer as fast as the caller reads it, until the signal. */
export async function sendAnswer(
  response: ServerResponse,
  answer: ReviewResponse,
  signal: AbortSignal,
): Promise<void> {
  if (response.destroyed) return;
  const { head, patch, tail } = answer;
  const length = Buffer.byteLength(head) + 4 * Math.ceil(patch.length / 3) + tail.length;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  // a caller that is too slow has no answer, and thus refuses the pod
  const late = () => response.destroy();
  signal.addEventListener('abort', late, { once: true });
  for (const piece of piecesOf(answer)) {
    if (response.destroyed) break;
    if (!response.write(piece)) await taken(response);
  }
  signal.removeEventListener('abort', late);
  response.end();
}

/** Resolves when the caller has read, or hung up. */
function taken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
