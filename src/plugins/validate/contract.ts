import type { Level } from '../../core/checks/contract.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import type { NameResolver } from '../../runtime/kube/cluster-addresses-resolver.ts';
import type { ComponentRules } from './call.ts';
import type { Host } from './host/contract.ts';
import type { Area, ValidateConfig } from './settings.ts';
import type { StoreAccess } from './store/contract.ts';
import type { VaultAccess } from './vault/contract.ts';

export type { Area };

/** What has to be there before a check can run; without it the check is skipped or could not be evaluated. */
export type Need = 'none' | 'vault' | 'cluster' | 'store' | 'node';

/** One thing that has to hold, in a file of its own, listed by the `index.ts` of its area. */
export interface Check {
  /** `SVC-<AREA>-<three digits>`; never used again for something else. */
  readonly id: string;
  readonly area: Area;
  /** What holds when it passes, as a sentence without its full stop. */
  readonly title: string;
  /** Of what it finds, unless a failure names its own. */
  readonly level: Level;
  readonly needs: Need;
  /** What usually brings it about, in sentences. */
  readonly cause: string;
  /** What to do then, in sentences. */
  readonly fix: string;
  /** Default: 15 s. */
  readonly timeoutMs?: number;
  /** How long it may take, after it was ended, to remove what it has created. */
  readonly undoMs?: number;
  /**
   * Whatever it throws is told as "could not be evaluated", an SvcError by its message.
   * @param signal aborted when its time is over or the command is interrupted
   */
  run(context: CheckContext, signal: AbortSignal): Promise<CheckResult>;
}

export interface CheckFailure {
  /** What has it: `shop/web-1` of a namespace and a name, or one name such as `transit/keys/svc`. */
  readonly subject: string;
  /** A sentence. Never a secret. */
  readonly message: string;
  readonly level?: Level;
}

/** What could not be found out, and why. */
export interface Unknown {
  readonly reason: string;
  /** What is missing: `list pods`, `read on transit/keys/svc`. */
  readonly permission?: string;
}

export type CheckResult =
  /** `trusted`: what was believed and not seen, as a sentence. */
  | { readonly state: 'passed'; readonly note?: string; readonly trusted?: string }
  /** `unknown` beside the failures: it counts whatever their levels are, and also when they are ignored. */
  | { readonly state: 'failed'; readonly failures: readonly CheckFailure[]; readonly unknown?: Unknown }
  /** It has no object here, or was not asked for: neither passed nor failed. */
  | { readonly state: 'skipped'; readonly reason: string }
  | ({ readonly state: 'not-evaluated' } & Unknown);

/** What checks may look at. Connections are made when they are first asked for, once for an attempt. */
export interface CheckContext {
  readonly config: ValidateConfig;
  /** In variables and the configuration file, a sentence each. */
  readonly mistakes: readonly string[];
  /** Path of the configuration file, where one is named. */
  readonly configFile: string | undefined;
  /** Those whose configuration can be looked at. */
  components(): Promise<readonly ComponentRules[]>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of svc. */
  readonly version: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** How names outside of the cluster are looked up; unset: by this machine, with a pause between two. */
  readonly lookUps?: { readonly resolver: NameResolver; readonly pauseMs: number };
  /** Aborted when the attempt is over; what checks share is loaded under it. */
  readonly signal: AbortSignal;
  /** @throws NotEvaluated or Skipped where none is named */
  vault(): Promise<VaultAccess>;
  /** @throws NotEvaluated where there is none, or it does not answer */
  cluster(): Promise<KubeClient>;
  /** @throws Skipped where no bucket is named */
  store(): Promise<StoreAccess>;
  readonly host: Host;
}
