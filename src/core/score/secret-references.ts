import { isInjected } from '../injection/mutate/names.ts';
import type { Container, Pod, Volume } from '../kubernetes/pod.ts';

/**
 * Where a pod is given contents of Kubernetes Secrets, a phrase each: variables, all keys as variables, volumes.
 * Credentials for pulling images stay with the kubelet, those of the store with the proxy; they do not count.
 */
export function secretReferences({ spec }: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return [
    ...all.filter((container) => !isInjected(container)).flatMap(ofContainer),
    ...volumes.flatMap(ofVolume),
  ];
}

function ofContainer({ name, env = [], envFrom = [] }: Container): string[] {
  const single = env.flatMap(({ name: variable, valueFrom }) =>
    valueFrom?.secretKeyRef === undefined
      ? []
      : [`variable ${variable} of container ${name} (${secretNamed(valueFrom.secretKeyRef.name)})`],
  );
  const whole = envFrom.flatMap(({ secretRef }) =>
    secretRef === undefined ? [] : [`variables of container ${name} (${secretNamed(secretRef.name)})`],
  );
  return [...single, ...whole];
}

function ofVolume({ name, secret, projected }: Volume): string[] {
  const own = secret === undefined ? [] : [secret.secretName];
  const sources = (projected?.sources ?? []) as readonly { readonly secret?: { readonly name?: string } }[];
  const inside = sources.flatMap(({ secret }) => (secret === undefined ? [] : [secret.name]));
  return [...own, ...inside].map((one) => `volume ${name} (${secretNamed(one)})`);
}

const secretNamed = (name: string | undefined): string => `Secret ${name ?? '?'}`;
