import { isOurs } from '../../../cluster/injection/resolve/annotations.ts';
import type { Excess } from '../../../cluster/injection/resolve/resolve-injection.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import { type JsonSize, parseBounded } from '../../../runtime/bounds/bounded-json.ts';
import { maxDepth, readName, visitMembers } from '../../../runtime/bounds/json-document.ts';
import { JsonView } from '../../../runtime/bounds/json-view.ts';
import { SvcError } from '../../../runtime/errors.ts';

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
  /** Set if the pod is too large to be read whole; `pod` then has its labels, svc/ annotations and no containers. */
  readonly excess?: Excess;
}

/**
 * A pod of 500 containers with 80 variables each. Above, only what tells whether a pod asks for protection is read: one
 * that does not is let through, up to `largestReview`.
 */
export const maxParts = 200_000;

/**
 * @param size what `bytes` were found to have
 * @throws SvcError ADMISSION_INVALID if the bytes are not an AdmissionReview (v1) of a pod
 */
export function readReview(bytes: Buffer, { parts, depth }: JsonSize): AdmissionRequest {
  if (depth > maxDepth) throw invalid(`it has more than ${maxDepth} levels`);
  if (parts <= maxParts) return requestIn(parsed(bytes));
  const { review, hidesLabels } = outlineOf(bytes);
  const error = `the pod: should have at most ${maxParts} names and values, its review has ${parts}`;
  return { ...requestIn(review), excess: { error, hidesLabels } };
}

/** Longer than any name that Kubernetes accepts; users may have longer ones, of which the log has the beginning. */
const longestText = 1_024;

function requestIn(review: Members): AdmissionRequest {
  if (review['kind'] !== 'AdmissionReview') throw invalid('it is of another kind');
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
    name: String(request['name'] ?? '').slice(0, longestText),
    dryRun: request['dryRun'] === true,
    user: String(objectIn(request, 'userInfo')['username'] ?? '').slice(0, longestText),
    pod: { ...object, metadata: object['metadata'] ?? {} } as unknown as Pod,
  };
}

type Members = Readonly<Record<string, unknown>>;

function parsed(bytes: Buffer): Members {
  try {
    const value: unknown = parseBounded(bytes, { maxParts });
    return isObject(value) ? value : {};
  } catch (cause) {
    throw invalid('it is no JSON', cause);
  }
}

/** More labels than any pod has, and no more of ours than are admitted (resolve-injection.ts) and one. */
const most = { labels: 10_000, annotations: 101 } as const;

/** A review without most of its pod: the bytes are scanned in place, and nothing is built of the rest. */
function outlineOf(bytes: Buffer): { readonly review: Members; readonly hidesLabels: boolean } {
  try {
    const view = new JsonView(bytes, Number.POSITIVE_INFINITY);
    const text = (...names: readonly string[]) => view.string(...names);
    const inRequest = ['uid', 'operation', 'namespace', 'name', 'subResource'] as const;
    const inMetadata = ['request', 'object', 'metadata'] as const;
    const labels = textsAt(view, [...inMetadata, 'labels'], most.labels);
    const annotations = textsAt(view, [...inMetadata, 'annotations'], most.annotations, isOurs);
    const metadata = { generateName: text(...inMetadata, 'generateName'), labels, annotations };
    const containers = view.at('request', 'object', 'spec', 'containers')?.kind === 'array' ? [] : undefined;
    const request = {
      ...Object.fromEntries(inRequest.map((name) => [name, text('request', name)])),
      dryRun: view.isTrue('request', 'dryRun'),
      kind: { kind: text('request', 'kind', 'kind') },
      userInfo: { username: text('request', 'userInfo', 'username') },
      object: { metadata, spec: { containers } },
    };
    const hidesLabels = Object.keys(labels).length === most.labels;
    return { review: { kind: text('kind'), request }, hidesLabels };
  } catch (cause) {
    throw invalid('it is no JSON', cause);
  }
}

/** The first `count` texts in an object that are wanted, by their names. */
function textsAt(
  view: JsonView,
  names: readonly string[],
  count: number,
  isWanted: (name: string) => boolean = () => true,
): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  const object = view.at(...names);
  if (object?.kind !== 'object') return {};
  visitMembers(view.bytes, object.start, (nameStart, nameEnd, value) => {
    const name = readName(view.bytes, nameStart, nameEnd);
    if (isWanted(name)) found.set(name, view.text(value) ?? '');
    return found.size < count;
  });
  return Object.fromEntries(found);
}

function objectIn(value: Members, name: string): Members {
  const found = value[name];
  return isObject(found) ? found : {};
}

function textIn(value: Members, name: string): string {
  const found = value[name];
  if (typeof found !== 'string' || found === '') throw invalid(`request.${name} is missing`);
  if (found.length > longestText) throw invalid(`request.${name} is too long`);
  return found;
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
