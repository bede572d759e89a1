import type { StoredPartList } from '../../../core/envelope/manifest.ts';
import { unlessAborted } from '../../../runtime/lifecycle/wait.ts';

/** A part list with the memory that it is accounted for. */
export interface AccountedList {
  readonly list: StoredPartList;
  /** Gives the memory back. */
  readonly release: () => void;
}

/** A request that uses a part list until it ends. */
export interface ListUser {
  readonly signal: AbortSignal;
  /** What is to be called when the request has ended, however it does. */
  atEnd(release: () => void): void;
}

/** Part lists that requests in progress use: each is there once, however many use it. */
export class ListsInUse {
  readonly #lists = new Map<string, ListInUse>();

  /**
   * The list that others use already, or that `load` brings: many readers of one object would load its list at once. Its
   * memory is given back at the end of the last request.
   * @param load `unused` is aborted when nobody waits for the list any more
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

  /** Who comes next begins anew. */
  #forget(id: string, inUse: ListInUse): void {
    if (this.#lists.get(id) === inUse) this.#lists.delete(id);
  }
}

interface ListInUse {
  users: number;
  readonly unused: AbortController;
  readonly loaded: Promise<AccountedList>;
}
