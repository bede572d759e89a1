import { SvcError } from '../../../core/errors.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';

/** What of an AdmissionReview's request is read. Source: admission.k8s.io/v1. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly namespace: string;
  /** Of the object, empty where `generateName` makes it later. */
  readonly name: string;
  readonly dryRun: boolean;
  /** Who asks, for the log. */
  readonly user: string;
  readonly pod: Pod;
}

/** @throws SvcError ADMISSION_INVALID, when a text is no AdmissionReview (v1) of a pod */
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

/** What the API server is answered. */
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

/** Objects and lists at most, or 0 where it is too short for many: each takes much more memory than its two characters. */
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
  throw invalid('its kind is another');
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
  return new SvcError('ADMISSION_INVALID', `The request is no AdmissionReview of a pod: ${why}`, {
    nextStep: 'Only the API server calls this webhook; check the rules of its MutatingWebhookConfiguration.',
    cause,
  });
}
