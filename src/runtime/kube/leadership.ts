/** Whether this replica leads. */
export interface Leadership {
  readonly leading: boolean;
  /** Called with each change, at once where it leads already; returns what ends that. */
  onChange(handle: (leading: boolean) => void): () => void;
}
