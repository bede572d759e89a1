/** What happens to processes below the wrapper, for its log. */
export type SupervisionEvent =
  /** Somebody's orphan has ended and was reaped. */
  | { readonly kind: 'reaped'; readonly pid: number; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly pid: number; readonly signal: string }
  | { readonly kind: 'continued'; readonly pid: number }
  /** The application still ran when its grace was over. */
  | { readonly kind: 'killed'; readonly pid: number; readonly graceMs: number }
  /** A signal could not be sent; `reason` is an errno such as `EPERM`. */
  | { readonly kind: 'undeliverable'; readonly pid: number; readonly signal: string; readonly reason: string }
  /** Not even SIGKILL has ended these in time. */
  | { readonly kind: 'left'; readonly pids: readonly number[] };

export type OnEvent = (event: SupervisionEvent) => void;
