/**
 * The public API for plugins of svc: `import … from 'svc/plugin'`. Plugins may import nothing else of svc.
 * `types/plugin.d.ts` is generated from this file. Importing it is cheap: heavy parts load when they are called.
 */
export * as Args from '@oclif/core/args';
export * as Flags from '@oclif/core/flags';
export type { KubeClient, KubeRequest } from '../cluster/kube/client.ts';
export type { VaultRequest } from '../keyserver/contract.ts';
export { type ResolvedVaultSettings, vaultRules, vaultSettings } from '../keyserver/settings.ts';
export { BaseCommand } from '../runtime/cli/base-command.ts';
export { flagsOf } from '../runtime/cli/setting-flags.ts';
export type {
  Component,
  ComponentCommandOptions,
  ComponentDeps,
  Running,
} from '../runtime/component/contract.ts';
export type { RunOptions } from '../runtime/component/read-config.ts';
export { exitStatus, SvcError, type SvcErrorOptions } from '../runtime/errors.ts';
export type {
  Counter,
  Gauge,
  Health,
  HealthFact,
  Histogram,
  LabelValues,
  Metrics,
} from '../runtime/health/health.ts';
export { untilAborted } from '../runtime/lifecycle/wait.ts';
export type { LogFields, Logger } from '../runtime/logging/logger.ts';
export { apiLevel } from '../runtime/plugin-host.ts';
export { type ListenAddress, listenAddress, listenAddressOrOff } from '../runtime/settings/listen-address.ts';
export { applyRules, type Rule } from '../runtime/settings/resolve.ts';
export {
  boolean,
  byteSize,
  duration,
  enumeration,
  httpUrl,
  integer,
  list,
  matching,
  type Parser,
  path,
  type Resolved,
  type Setting,
  SettingMistake,
  type Settings,
  text,
} from '../runtime/settings/setting.ts';
export {
  componentCommand,
  connectCluster,
  connectVault,
  readSettings,
  type VaultConnection,
  type VaultConnectionOptions,
} from './functions.ts';
