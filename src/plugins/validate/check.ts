import type { KubeClient } from '../../cluster/kube/client.ts';
import type { NameResolver } from '../../cluster/kube/name-book.ts';
import type { VaultRequest, VaultResponse } from '../../keyserver/contract.ts';
import type { RecoveryRehearsal } from '../../objects/format/recovery-rehearsal.ts';
import type { Level } from '../../runtime/report/check-outcome.ts';
import type { ComponentRules } from './read-settings.ts';
import type { Area, ValidateConfig } from './settings.ts';

export type { Area };

/** What a check needs to run; without it the check is skipped, or could not be evaluated. */
export type Need = 'none' | 'vault' | 'cluster' | 'store' | 'node';

/** One condition that must hold. `registry.ts` lists them all. */
export interface Check {
  /** `SVC-<AREA>-<three digits>`; never reused for another check. */
  readonly id: string;
  readonly area: Area;
  /** What holds if the check passes, as a sentence without a full stop. */
  readonly title: string;
  /** Of failures that name no level of their own. */
  readonly level: Level;
  readonly needs: Need;
  /** Usual causes of a failure, in sentences. */
  readonly cause: string;
  /** How to fix it, in sentences. */
  readonly fix: string;
  /** Default: 15 s. */
  readonly timeoutMs?: number;
  /** Additional time after the timeout to remove objects that the check has created. */
  readonly undoMs?: number;
  /**
   * Any error is reported as "could not be evaluated", an SvcError with its message.
   * @param signal aborted at the timeout, or when the command is interrupted
   */
  run(context: CheckContext, signal: AbortSignal): Promise<CheckResult>;
}

export interface CheckFailure {
  /** The object: `shop/web-1` for a namespace and a name, or one name such as `transit/keys/svc`. */
  readonly subject: string;
  /** A sentence. Never a secret. */
  readonly message: string;
  readonly level?: Level;
}

/** Marks results that cannot change while the command waits, because no setting names what the check needs. */
interface Unset {
  readonly unset?: true;
}

/** What could not be determined, and why. */
interface Unknown {
  readonly reason: string;
  /** The missing permission: `list pods`, `read on transit/keys/svc`. */
  readonly permission?: string;
}

/** Results for single objects, for checks that report each of them. */
interface OneByOne {
  readonly examined?: readonly ExaminedObject[];
}

export interface ExaminedObject {
  readonly subject: string;
  /** A phrase. */
  readonly found: string;
}

export type CheckResult =
  /** `trusted`: what was assumed without verification, as a sentence. */
  | ({ readonly state: 'passed'; readonly note?: string; readonly trusted?: string } & OneByOne)
  /** `unknown` counts in addition to the failures: regardless of their levels, and even if they are ignored. */
  | ({
      readonly state: 'failed';
      readonly failures: readonly CheckFailure[];
      readonly unknown?: Unknown;
    } & OneByOne)
  /** The check does not apply here, or was not requested: neither passed nor failed. */
  | ({ readonly state: 'skipped'; readonly reason: string } & Unset)
  | ({ readonly state: 'not-evaluated' } & Unknown & Unset);

/** What checks may use. Connections are opened at their first use, once for each attempt. */
export interface CheckContext {
  readonly config: ValidateConfig;
  /** Errors in variables and the configuration file, a sentence each. */
  readonly errors: readonly string[];
  /** Path of the configuration file, if given. */
  readonly configFile: string | undefined;
  /** The components whose configuration can be read. */
  components(): Promise<readonly ComponentRules[]>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of svc. */
  readonly version: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** How to look up names outside the cluster; default: by this machine, with a pause between lookups. */
  readonly lookUps?: { readonly resolver: NameResolver; readonly pauseMs: number };
  /** Aborted when the attempt is over; also bounds the loading of shared values. */
  readonly signal: AbortSignal;
  /** @throws NothingNamed */
  vault(): Promise<VaultAccess>;
  /** @throws NothingNamed; NotEvaluated if the API server does not answer */
  cluster(): Promise<KubeClient>;
  /** @throws NothingNamed if no bucket is named */
  store(): Promise<StoreAccess>;
  /** Opens objects with the recovery keys alone. @throws NothingNamed; SvcError RECOVERY_KEY */
  rehearsal(): Promise<RecoveryRehearsal>;
  readonly host: Host;
}

/** @param trusted what was assumed without verification, as a sentence */
export const passed = (note?: string, trusted?: string): CheckResult => ({
  state: 'passed',
  ...(note !== undefined && { note }),
  ...(trusted !== undefined && { trusted }),
});

export const failed = (...failures: readonly CheckFailure[]): CheckResult => ({ state: 'failed', failures });

export const skipped = (reason: string): CheckResult => ({ state: 'skipped', reason });

/** @param permission the missing one, such as `list pods` */
export const notEvaluated = (reason: string, permission?: string): CheckResult => ({
  state: 'not-evaluated',
  ...unknownBecause(reason, permission),
});

export const verdict = (failures: readonly CheckFailure[], note?: string, trusted?: string): CheckResult =>
  failures.length > 0 ? failed(...failures) : passed(note, trusted);

/**
 * For a check that could not examine everything: failed if the rest has failures, never passed.
 * @param permission the missing one, such as `list pods`
 */
export const verdictOnPart = (
  failures: readonly CheckFailure[],
  reason: string,
  permission?: string,
): CheckResult =>
  failures.length > 0
    ? { state: 'failed', failures, unknown: unknownBecause(reason, permission) }
    : notEvaluated(reason, permission);

const unknownBecause = (reason: string, permission: string | undefined): Unknown => ({
  reason,
  ...(permission !== undefined && { permission }),
});

/** Thrown if a check, or the loading of a shared value, cannot determine what it needs to know. */
export class NotEvaluated extends Error {
  override readonly name = 'NotEvaluated';
  /** The missing permission: `list pods`. */
  readonly permission: string | undefined;

  constructor(reason: string, permission?: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.permission = permission;
  }
}

/** Thrown if there is nothing to examine, and no setting says that there should be. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** Thrown if no setting names what a check needs. */
export class NothingNamed extends Error {
  override readonly name = 'NothingNamed';
  readonly state: 'skipped' | 'not-evaluated';

  /** @param state the resulting state of the check */
  constructor(state: NothingNamed['state'], reason: string) {
    super(reason);
    this.state = state;
  }
}

/**
 * A value that several checks need: loaded at its first use, once for each attempt, under the attempt's signal. If
 * loading fails, it fails for all of them.
 */
export function shared<T>(
  load: (context: CheckContext) => Promise<T>,
): (context: CheckContext) => Promise<T> {
  const loaded = new WeakMap<CheckContext, Promise<T>>();
  return (context) => {
    const known = loaded.get(context);
    if (known !== undefined) return known;
    const loading = load(context);
    loaded.set(context, loading);
    return loading;
  };
}

/** Facts of the machine, behind an interface so that tests can supply other machines. */
export interface Host {
  /** Such as `linux`. */
  readonly platform: string;
  /** Such as `6.1.0-18-amd64`. */
  readonly kernelRelease: string;
  /** Such as `v24.21.0`. */
  readonly nodeVersion: string;
  /** @returns undefined if the file does not exist @throws Error if it may not be read */
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** Whether PATH has a program with this name. */
  hasProgram(name: string): boolean;
  /** Allocates and releases secret memory. @returns the reason if it fails; undefined if it works */
  trySecretMemory(): Promise<string | undefined>;
}

export interface FetchedObject {
  readonly body: Buffer;
  /** User metadata, names in lower case without `x-amz-meta-`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Id of the version; undefined in a bucket without versions. */
  readonly version: string | undefined;
}

/** One S3 endpoint: the store itself, or the proxy in front of it. A refusal is thrown as the error of the AWS SDK. */
export interface S3Endpoint {
  /** For messages. */
  readonly host: string;
  put(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  get(key: string, signal: AbortSignal): Promise<FetchedObject>;
  /** @param version if given, removes this version permanently */
  remove(key: string, version: string | undefined, signal: AbortSignal): Promise<void>;
  /** Whether the bucket exists. */
  hasBucket(signal: AbortSignal): Promise<boolean>;
}

/** Settings of the bucket; undefined if the store does not return them. */
export interface CheckedBucket {
  readonly versioning: 'Enabled' | 'Suspended' | 'off' | undefined;
  /** Whether policies and grants that open the bucket to everybody are blocked. */
  readonly blocksPublicAccess: boolean | undefined;
  /** Whether the bucket's policy makes it public. */
  readonly isPublic: boolean | undefined;
}

/** The bucket that `--bucket` names. */
export interface StoreAccess {
  readonly bucket: string;
  readonly address: URL;
  /** Directly to the store. */
  readonly direct: S3Endpoint;
  /** Through the proxy that `--proxy` names, or one in this process. @throws NotEvaluated if that one does not start */
  proxied(): Promise<S3Endpoint>;
  facts(signal: AbortSignal): Promise<CheckedBucket>;
}

export type VaultQuery = Pick<VaultRequest, 'method' | 'path' | 'body'>;

/** Requests to the secrets server, with or without a login. */
export interface VaultSession {
  /** Resolves with every status, including refusals. @throws VaultError of kind `unavailable` */
  ask(query: VaultQuery, signal: AbortSignal): Promise<VaultResponse>;
}

/** The certificate that the server presents. */
export interface PeerCertificate {
  /** The code of OpenSSL or Node if the certificate is not trusted; undefined if it is trusted. */
  readonly problem: string | undefined;
  /** Milliseconds since 1970. */
  readonly validTo: number;
  readonly subject: string;
}

/** The secrets server. */
export interface VaultAccess {
  /** The broker's, if there is one. */
  readonly address: URL;
  /** Whether verification of certificates is turned off. */
  readonly skipVerify: boolean;
  /** Without a token: health, seal status. */
  readonly anonymous: VaultSession;
  /** As the workload. @throws VaultError if it cannot log in; NothingNamed if settings do not say how */
  workload(): Promise<VaultSession>;
  /** As the auditor, who may read keys and roles; as the workload if no auditor is configured. */
  auditor(): Promise<VaultSession>;
  /** The workload's capabilities on paths, which are not encoded. @throws NotEvaluated if no login may look them up */
  capabilities(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Undefined without TLS. @throws NotEvaluated if there is no answer */
  certificate(signal: AbortSignal): Promise<PeerCertificate | undefined>;
}
