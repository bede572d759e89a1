/** Secrets by name. Reads never throw in any state, except for `mustGet`, for a missing secret. */
export interface Store {
  /** `nil`: not started under the wrapper, reads fall back to the environment. `closed`: reads are empty. */
  readonly state: 'nil' | 'open' | 'closed';
  /**
   * Open: the value, or the environment's if the store has no such key. Nil: the environment's. Otherwise ''.
   * A string is a copy on the heap, which JavaScript cannot erase; `view` makes no copy.
   */
  get(key: string): string;
  /**
   * The same, for a required secret.
   * @throws Error `svc-sdk: secret "<key>" not found` if the value is empty
   */
  mustGet(key: string): string;
  /** Open: whether the store has the key. Nil: whether the environment's value is non-empty. Closed: false. */
  has(key: string): boolean;
  /** Names in the order of the records, never values; undefined unless open. */
  keys(): string[] | undefined;
  /**
   * A view of the value's bytes in the protected pages, not a copy; undefined if the store does not have the key.
   * Read-only: writing to it ends the process. The bytes stay unchanged until the second rotation from now; the view is
   * empty after `close`.
   */
  view(key: string): Uint8Array | undefined;
  /** Unmaps the memory. Repeated calls have no effect. */
  close(): void;
}
