import type { Container, EnvironmentVariable } from '../../kubernetes/pod.ts';

/** Fields of a pod whose values hold neither comma nor backslash. */
const plainFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
]);

/**
 * Tells whether a reference may stand in SVC_ORIGINAL_ARGS: its name and all that can take its place hold nothing that
 * has a meaning there.
 */
export function survivorsOf({ env = [], envFrom = [] }: Container): (name: string) => boolean {
  // of several with one name the last counts
  const last = new Map(env.map((variable) => [variable.name, variable]));
  return (name) => {
    if (!/^[\w.-]+$/.test(name)) return false;
    const defined = last.get(name);
    if (defined !== undefined) return isPlain(defined);
    // what is left is a variable of a Service, an address, or none, which stays as it is written
    return envFrom.length === 0;
  };
}

function isPlain({ value, valueFrom }: EnvironmentVariable): boolean {
  if (value !== undefined && value !== '') return !/[$,\\]/.test(value);
  if (valueFrom === undefined) return true;
  const { fieldRef, resourceFieldRef } = valueFrom;
  return resourceFieldRef !== undefined || (fieldRef !== undefined && plainFields.has(fieldRef.fieldPath));
}
