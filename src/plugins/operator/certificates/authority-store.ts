import { type AuthorityState, fromData, type StoredState, toData } from './authority-state.ts';
import type { KeptSecret, SecretStore } from './secret-store.ts';

/** Where the state of the authority is kept. */
export interface AuthorityStore {
  /** Becomes what this replica works with, and the base of the next write. @throws KubeError */
  read(): Promise<StoredState>;
  /** @throws KubeError KUBE_CONFLICT where somebody else has written since it was read */
  write(state: AuthorityState): Promise<void>;
}

/** In the Secret that all replicas read, the leader too: what is served is what stands there. */
export function createSharedStore(secret: SecretStore): AuthorityStore {
  let read: KeptSecret = { data: {}, object: undefined };
  return {
    async read() {
      read = await secret.read();
      return fromData(read.data);
    },
    write: (state) => secret.write(read, toData(state)),
  };
}
