/** Servers for credentials that only a node can reach; no policy allows them unless somebody asks for it. */
export const credentialServers = {
  agent: { name: 'the EKS Pod Identity agent', address: '169.254.170.23', port: 80 },
  node: { name: 'the instance metadata service', address: '169.254.169.254', port: 80 },
} as const;

/** `given`: as variables; `role`: from STS, for a token of the pod. */
export type CredentialSource = 'given' | 'role' | keyof typeof credentialServers;

/**
 * How the proxy comes by credentials for the object store: the first that applies, as in the AWS default provider chain.
 * @param names of the proxy's variables
 */
export function credentialSource(names: ReadonlySet<string>): CredentialSource {
  const hasAll = (...wanted: string[]) => wanted.every((name) => names.has(name));
  if (hasAll('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY')) return 'given';
  if (hasAll('AWS_ROLE_ARN', 'AWS_WEB_IDENTITY_TOKEN_FILE')) return 'role';
  return names.has('AWS_CONTAINER_CREDENTIALS_FULL_URI') ? 'agent' : 'node';
}
