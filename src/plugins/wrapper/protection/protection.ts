/** What protects a process, as the kernel says. Sizes are bytes; Infinity where there is no limit. */
export interface ProcessProtection {
  /** `all`: every private writable mapping that holds anything is locked, memory around generated code left aside. */
  readonly lockMode: 'all' | 'partial' | 'none';
  /** Private writable memory, present or swapped out, in locked mappings, and in others. */
  readonly lockedBytes: number;
  readonly unlockedBytes: number;
  readonly swappedBytes: number;
  readonly lockLimitBytes: number;
  readonly coreLimitBytes: number;
  /** Whether processes of the same user may trace it and read its memory. */
  readonly dumpable: boolean;
  /** Whether CAP_IPC_LOCK is effective. */
  readonly ipcLock: boolean;
}

export interface ApplicationProtection {
  readonly pid: number;
  /** Size of the mappings that it locked itself. */
  readonly lockedBytes: number;
  readonly swappedBytes: number;
  readonly coreLimitBytes: number;
  /** Undefined where it cannot be told: the files of root's processes belong to root either way. */
  readonly dumpable: boolean | undefined;
}

/** Memory that secrets are kept in; of several regions the weakest traits and the sum of the sizes. */
export interface SecretMemoryProtection {
  readonly kind: 'memfd_secret' | 'anonymous';
  readonly bytes: number;
  readonly locked: boolean;
  /** Left out of core dumps. */
  readonly undumped: boolean;
}
