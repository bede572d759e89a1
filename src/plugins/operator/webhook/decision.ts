import type { Operation } from 'rfc6902';

/** What becomes of a pod that is to be created. */
export type Decision =
  /** It is none of ours. */
  | { readonly kind: 'skip'; readonly reason: string }
  | {
      readonly kind: 'inject';
      /** What makes of it the pod as it is to run (RFC 6902); not empty. */
      readonly patch: readonly Operation[];
      readonly warnings: readonly string[];
      readonly serviceConfig: string | undefined;
    }
  /** It would not be protected as it asks for: every reason, a sentence each. */
  | { readonly kind: 'deny'; readonly code: 400 | 403 | 500 | 503; readonly mistakes: readonly string[] };
