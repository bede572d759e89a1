import type { AuthorityState } from './authority-state.ts';
import { createMemoryStore, createSharedStore } from './authority-store.ts';
import type { CertificatesOptions } from './certificates-options.ts';
import type { ServerCertificate } from './contract.ts';
import { servedBy } from './follow-authority.ts';
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
  /** Serves what the authority has issued. */
  readonly take: (certificate: ServerCertificate) => void;
  /** PEM that the API server verifies the webhook by. */
  readonly written: () => string | undefined;
}

export function createKeeper(options: CertificatesOptions, surroundings: KeeperSurroundings): Keeper {
  const { client, namespace, serviceName, leaderElect, certDir, log, signal, now = Date.now } = options;
  const { published, leading, take, written } = surroundings;
  const secret = (name: string) => createSecretStore(client, namespace, name, signal);
  const lifetimes = { ...usualLifetimes, ...options.lifetimes };
  const isOwn = certDir === undefined;
  return new Keeper({
    ...{ lifetimes, now, leading, log, settling: createSettling(lifetimes.settleMs) },
    store: leaderElect ? createSharedStore(secret(sharedSecretOf(serviceName))) : createMemoryStore(),
    agents: secret(agentSecret),
    dnsNames: namesOf(serviceName, namespace),
    // what is shared is served from where all replicas read it, the leader too
    onState: (state: AuthorityState) => (leaderElect ? undefined : take(servedBy(state))),
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
