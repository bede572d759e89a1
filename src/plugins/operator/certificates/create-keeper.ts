import { createSharedStore } from './authority-store.ts';
import type { CertificatesOptions } from './certificates-options.ts';
import { Keeper } from './keeper.ts';
import { usualLifetimes } from './lifetimes.ts';
import type { Published } from './published.ts';
import { createSecretStore } from './secret-store.ts';
import { createSettling } from './settling.ts';

/** What the agents of all nodes mount. */
const agentSecret = 'svc-agent-tls';

export interface KeeperSurroundings {
  readonly published: Published;
  readonly leading: () => boolean;
  /** PEM that the API server verifies the webhook by. */
  readonly written: () => string | undefined;
}

export function createKeeper(options: CertificatesOptions, surroundings: KeeperSurroundings): Keeper {
  const { client, namespace, serviceName, certDir, log, signal, now = Date.now } = options;
  const { published, leading, written } = surroundings;
  const secret = (name: string) => createSecretStore(client, namespace, name, signal);
  const lifetimes = { ...usualLifetimes, ...options.lifetimes };
  const isOwn = certDir === undefined;
  return new Keeper({
    ...{ lifetimes, now, leading, log, settling: createSettling(lifetimes.settleMs) },
    store: createSharedStore(secret(sharedSecretOf(serviceName))),
    agents: secret(agentSecret),
    dnsNames: namesOf(serviceName, namespace),
    serverBundle: (authorities) => (isOwn ? authorities : (published.bundle() ?? authorities)),
    isWritten: (bundle) => !isOwn || written() === bundle,
  });
}

/** The Secret with the authority of all replicas. */
export const sharedSecretOf = (serviceName: string): string => `${serviceName}-tls`;

/** The Service of the webhook, and the headless one whose addresses the agents try. */
function namesOf(serviceName: string, namespace: string): readonly string[] {
  const services = [serviceName, `${serviceName}-agents`];
  return services.flatMap((name) => [`${name}.${namespace}.svc`, `${name}.${namespace}`, name]);
}
