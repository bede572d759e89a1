/** What guards a node: 1 BPF LSM, 2 fmod_ret on the LSM's hooks, 3 raw tracepoints, 4 nothing. */
export type Tier = 1 | 2 | 3 | 4;

/** Names as the schema of the node agent has them, for logs and metrics too. */
export const tierNames: Readonly<Record<Tier, string>> = {
  1: 'lsm',
  2: 'fmod_ret',
  3: 'tracepoint',
  4: 'none',
};
