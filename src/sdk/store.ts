/** Secrets by their names. Reads never throw, whatever the state; only `mustGet` does, for a secret that is not there. */
export interface Store {
  /** `nil`: not started under the wrapper, reads fall back to the environment. `closed`: reads are empty. */
  readonly state: 'nil' | 'open' | 'closed';
  /**
   * Open: the value, or the environment's where the store has no such key. Nil: the environment's. Otherwise ''.
   * A string is a copy on the heap, which JavaScript offers no way to erase; `view` makes none.
   */
  get(key: string): string;
  /**
   * The same, for a secret that must be there.
   * @throws Error `svc-sdk: secret "<key>" not found` when the value is empty
   */
  mustGet(key: string): string;
  /** Open: whether the store has the key. Nil: whether the environment's value is non-empty. Closed: false. */
  has(key: string): boolean;
  /** Names in the order of the records, never values; undefined unless open. */
  keys(): string[] | undefined;
  /**
   * The value's bytes in place, in the protected pages; undefined where the store does not have it.
   * Read-only: writing to it ends the process. It stays as it is until the second rotation from now, and is empty
   * after `close`.
   */
  view(key: string): Uint8Array | undefined;
  /** Unmaps the memory. Repeated calls have no effect. */
  close(): void;
}
