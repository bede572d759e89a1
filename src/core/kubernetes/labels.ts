/** The label that the webhook gives to every pod that it mutates, and the operator to namespaces with such pods. */
export const protectedLabel = 'svc/protected';
/** Of those pods that have the encryption proxy. */
export const proxyLabel = 'svc/proxy';

export function isLabelled(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[protectedLabel] === 'true';
}
