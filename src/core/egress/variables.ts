/**
 * Variables of wrapped containers and of the proxy whose values say where they connect to. A pod that runs cannot change
 * them, unlike its annotations. None of them is a secret.
 */
export const addressVariables = [
  'AWS_DEFAULT_REGION',
  'AWS_REGION',
  'SVC_PROXY_UPSTREAM',
  'VAULT_ADDR',
] as const;

export type AddressVariable = (typeof addressVariables)[number];
