import { unlessAborted } from '../../runtime/lifecycle/wait.ts';
import type { StoredPartList } from '../format/manifest.ts';

/** A part list and the memory reserved for it. */
export interface AccountedList {
  readonly list: StoredPartList;
  /** Releases the memory. */
  readonly release: () => void;
}

/** A request that uses a part list until it ends. */
export interface ListUser {
  readonly signal: AbortSignal;
  /** Registers a function to call when the request ends, for whatever reason. */
  atEnd(release: () => void): void;
}

/** Part lists of requests in progress, each held once however many requests use it. */
export class ListsInUse {
  readonly #lists = new Map<string, ListInUse>();

  /**
   * Returns the list in use under `id`, or loads it, so that concurrent readers of an object load its list once. Its
   * memory is released when the last request ends.
   * @param load its `unused` is aborted when no request waits for the list any more
   */
  async use(
    id: string,
    user: ListUser,
    load: (unused: AbortSignal) => Promise<AccountedList>,
  ): Promise<StoredPartList> {
    const inUse = this.#lists.get(id) ?? this.#begin(id, load);
    inUse.users++;
    user.atEnd(() => this.#leave(id, inUse));
    return (await unlessAborted(inUse.loaded, user.signal)).list;
  }

  #begin(id: string, load: (unused: AbortSignal) => Promise<AccountedList>): ListInUse {
    const unused = new AbortController();
    const inUse = { users: 0, unused, loaded: load(unused.signal) };
    this.#lists.set(id, inUse);
    inUse.loaded.catch(() => this.#forget(id, inUse));
    return inUse;
  }

  #leave(id: string, inUse: ListInUse): void {
    inUse.users--;
    if (inUse.users > 0) return;
    this.#forget(id, inUse);
    inUse.unused.abort();
    inUse.loaded.then(({ release }) => release()).catch(() => undefined);
  }

  /** The next request loads the list again. */
  #forget(id: string, inUse: ListInUse): void {
    if (this.#lists.get(id) === inUse) this.#lists.delete(id);
  }
}

interface ListInUse {
  users: number;
  readonly unused: AbortController;
  readonly loaded: Promise<AccountedList>;
}
