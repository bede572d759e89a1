import { sizeOfJson } from '../../runtime/bounds/bounded-json.ts';
import { maxDepth, readText } from '../../runtime/bounds/json-document.ts';
import { items, members, type Outline, readOutline } from '../../runtime/bounds/json-outline.ts';
import { maxObjectParts, notJson, parseJson } from './client.ts';
import { managedBy, podSecurityLabel, protectedLabel, proxyLabel } from './labels.ts';

/**
 * How objects with more than `maxObjectParts` values are read. `outlined`: what marks them, and nothing else (see
 * `outlineOfObject`): anybody who may create pods may make one of a million values, each of which would take what a
 * hundred thousand usual ones take. `whole`: for commands, which read each object once.
 */
export type LargeObjects = 'outlined' | 'whole';

/**
 * Values and names of an object that is read whole in any case. What etcd stores of one has at most 1.5 MiB, in which
 * even empty texts take two bytes each: more than any object that the API server has, so that nobody's object ends a list.
 */
const maxWholeParts = 1_000_000;

export interface ReadJson {
  readonly value: unknown;
  readonly isOutline: boolean;
}

/** @throws KubeError KUBE_PROTOCOL unless the bytes are JSON within the bounds; KUBE_TOO_LARGE */
export function readJson(what: string, bytes: Buffer, outline: Outline, large: LargeObjects): ReadJson {
  if (large === 'whole') return { value: parseJson(what, bytes, maxWholeParts), isOutline: false };
  try {
    const { parts } = sizeOfJson(bytes, { maxDepth });
    if (parts > maxObjectParts) return { value: readOutline(bytes, outline), isOutline: true };
    return { value: JSON.parse(readText(bytes, 0, bytes.length)), isOutline: false };
  } catch (cause) {
    throw notJson(what, cause);
  }
}

/** Bytes of a text, and of a value of a status or a selector; longer ones count as empty. */
const text = 4 * 1024;
const small = 16 * 1024;

const names = [protectedLabel, proxyLabel, podSecurityLabel, ...Object.keys(managedBy)];
const labels = members(Object.fromEntries(names.map((name) => [name, text])));
const template = members({ metadata: members({ labels }), spec: members({ containers: 0 }) });
const containers = items(1_000, members({ name: text, containerID: text }));

/** What is read of a large object: its identity, and what the marks of `project-objects.ts` and the agent need. */
export const outlineOfObject = members({
  metadata: members({
    ...{ name: text, namespace: text, uid: text, resourceVersion: text, generation: text },
    ...{ creationTimestamp: text, deletionTimestamp: text, labels },
    annotations: members({ 'kubernetes.io/config.mirror': text }),
    ownerReferences: items(100, members({ kind: text, name: text, uid: text, controller: text })),
    managedFields: items(100, members({ manager: text, operation: text })),
  }),
  spec: members({
    ...{ containers: 0, nodeName: text, selector: small },
    ...{ template, jobTemplate: members({ spec: members({ template }) }) },
  }),
  status: members({
    ...{ phase: text, observedGeneration: text, conditions: small },
    ...{ matchedPods: text, protectedPods: text, users: text, lastValidated: text },
    ...{ initContainerStatuses: containers, containerStatuses: containers },
    ephemeralContainerStatuses: containers,
  }),
});

/** The same of an event of a watch. */
export const outlineOfEvent = members({ type: text, object: outlineOfObject });
