import type { Logger } from '../../../runtime/logging/logger.ts';
import { agentFiles } from './agent-certificate.ts';
import { type AuthorityState, authoritiesOf } from './authority-state.ts';
import type { AuthorityStore } from './authority-store.ts';
import type { Lifetimes } from './lifetimes.ts';
import { renewed } from './renew.ts';
import { createSecretSlot } from './secret-slot.ts';
import type { SecretStore } from './secret-store.ts';
import type { Settling } from './settling.ts';

export interface KeeperParts {
  readonly store: AuthorityStore;
  /** Files of the agents. */
  readonly agents: SecretStore;
  readonly lifetimes: Lifetimes;
  readonly settling: Settling;
  readonly dnsNames: readonly string[];
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly leading: () => boolean;
  /** What the server is verified by, where the authority is this one. */
  readonly serverBundle: (authorities: string) => string;
  /** Whether the API server verifies the webhook by it already. */
  readonly isWritten: (bundle: string) => boolean;
  readonly log: Logger;
}

/** The leader's work: keeps the authority, the server's certificate and the agents' files current. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #hideAuthorityKey = createSecretSlot();
  readonly #hideAgentKey = createSecretSlot();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** @throws KubeError; the next round begins from what is stored by then */
  async round(): Promise<void> {
    const { leading, settling } = this.#parts;
    if (!leading()) return settling.forget();
    const state = await this.#keepAuthority();
    if (state === undefined) return;
    await this.#keepAgents(state);
  }

  /** Undefined where another replica leads by now. */
  async #keepAuthority(): Promise<AuthorityState | undefined> {
    const { store, leading, settling, now, lifetimes, dnsNames } = this.#parts;
    const stored = await store.read();
    const settled = settling.isSettled(authoritiesOf(stored));
    const { state, changes } = await renewed(stored, { now: now(), settled, lifetimes, dnsNames });
    this.#hideAuthorityKey(state.authority.key);
    if (!leading()) return undefined;
    if (changes.length > 0) {
      await store.write(state);
      this.#parts.log.info('certificates.renewed', { changes });
    }
    return state;
  }

  async #keepAgents(state: AuthorityState): Promise<void> {
    const { agents, leading, settling, now, lifetimes, isWritten, log } = this.#parts;
    const authorities = authoritiesOf(state);
    const serverBundle = this.#parts.serverBundle(authorities);
    const stored = await agents.read();
    const facts = { now: now(), lifetimes, serverBundle, settled: settling.isSettled(authorities) };
    const { data, changes } = await agentFiles(stored.data, state, facts);
    this.#hideAgentKey(data['tls.key'] ?? '');
    if (!leading()) return;
    if (changes.length > 0) {
      await agents.write(stored, data);
      log.info('certificates.agents.renewed', { name: agents.name, changes });
    }
    settling.see(authorities, isWritten(serverBundle));
  }
}
