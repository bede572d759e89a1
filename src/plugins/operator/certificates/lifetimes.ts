/** How long certificates live, and how long a new authority settles. */
export interface Lifetimes {
  readonly authorityDays: number;
  /** Of the server's and the agents' certificate. */
  readonly leafDays: number;
  /** How long a bundle has to be known everywhere before certificates of its new authority are served: kubelets take minutes to renew files. */
  readonly settleMs: number;
}

export const usualLifetimes: Lifetimes = { authorityDays: 365, leafDays: 30, settleMs: 10 * 60_000 };

export const dayMs = 86_400_000;
