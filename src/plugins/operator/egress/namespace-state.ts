/** How the egress of a namespace was found when it was last looked at. Names are sorted. */
export interface NamespaceState {
  /** The policy for its protected pods says what it should. */
  readonly applied: boolean;
  /** Policies of somebody else that stand in the way of ours. */
  readonly foreign: readonly string[];
  /** Policies of others that let protected pods reach more. */
  readonly widening: readonly string[];
  readonly warnings: readonly string[];
  /** Secrets servers and stores that have no address, so that nothing is allowed because of them. */
  readonly unresolved: readonly string[];
}
