import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary.ts';
import { type ServiceAccount, startTokenReviewServer } from './token-review.ts';
import type { HttpResult, KubernetesAuth, KubernetesAuthOptions } from './types.ts';

export type KeyServerCall = (
  method: string,
  path: string,
  body?: unknown,
  token?: string | null,
) => Promise<HttpResult>;

const ACCOUNT: ServiceAccount = { namespace: 'apps', name: 'workload' };

/** Mounts OpenBao's own Kubernetes auth against a TokenReview server and makes a role in it. */
export async function enableKubernetesAuth(
  call: KeyServerCall,
  options: KubernetesAuthOptions,
): Promise<KubernetesAuth> {
  const { role = 'svc-proxy', ttl = '1h', policies = [], mount = 'kubernetes' } = options;
  const reviewer = await startTokenReviewServer();
  await call('POST', `sys/auth/${mount}`, { type: 'kubernetes' });
  await call('POST', `auth/${mount}/config`, {
    kubernetes_host: reviewer.url,
    kubernetes_ca_cert: reviewer.caCert,
    disable_local_ca_jwt: true,
  });
  await call('POST', `auth/${mount}/role/${role}`, {
    bound_service_account_names: [ACCOUNT.name],
    bound_service_account_namespaces: [ACCOUNT.namespace],
    token_policies: policies,
    token_no_default_policy: true,
    token_ttl: ttl,
    token_max_ttl: ttl,
  });
  const folder = temporaryFolder('service-account');
  const jwtPath = join(folder.path, 'token');
  let current = '';
  const issue = () => {
    current = reviewer.issue(ACCOUNT);
    writeFileSync(jwtPath, current, { mode: 0o600 });
    return current;
  };
  issue();
  return {
    role,
    mountPath: `auth/${mount}`,
    jwtPath,
    issue,
    revokeJwt: (jwt = current) => reviewer.revoke(jwt),
    reviews: reviewer.reviews,
    async stop() {
      await reviewer.stop();
      await folder.remove();
    },
  };
}
