/**
 * What plugins of svc are made of: `import … from 'svc/plugin'`. Nothing else of svc is for others to import.
 * `types/plugin.d.ts` is generated from here. Importing it is cheap: what is heavy loads when it is called.
 */
export * as Args from '@oclif/core/args';
export * as Flags from '@oclif/core/flags';
export { exitStatus, SvcError, type SvcErrorOptions } from '../core/errors.ts';
export {
  type ListenAddress,
  listenAddress,
  listenAddressOrOff,
} from '../core/settings/listen-address.ts';
export {
  boolean,
  byteSize,
  duration,
  enumeration,
  integer,
  list,
  matching,
  type Parser,
  path,
  text,
} from '../core/settings/parsers.ts';
export { applyRules, type Rule } from '../core/settings/rules.ts';
export { type Resolved, type Setting, SettingMistake, type Settings } from '../core/settings/setting.ts';
export { httpUrl } from '../core/settings/url.ts';
export { BaseCommand } from '../runtime/cli/base-command.ts';
export type { ComponentCommandOptions } from '../runtime/cli/component-command-options.ts';
export { flagsOf } from '../runtime/cli/setting-flags.ts';
export type { Component, ComponentDeps, Running } from '../runtime/component/contract.ts';
export type { RunOptions } from '../runtime/component/read-config.ts';
export type { Health, HealthFact } from '../runtime/health/health.ts';
export type { Counter, Gauge, Histogram, LabelValues, Metrics } from '../runtime/health/metrics.ts';
export type { KubeClient, KubeRequest } from '../runtime/kube/client.ts';
export { untilAborted } from '../runtime/lifecycle/until-aborted.ts';
export type { LogFields, Logger } from '../runtime/logging/logger.ts';
export { apiLevel } from '../runtime/plugin-host/api-level.ts';
export type { VaultRequest } from '../runtime/vault/contract.ts';
export { vaultRules } from '../runtime/vault/rules.ts';
export { type ResolvedVaultSettings, vaultSettings } from '../runtime/vault/settings.ts';
export { componentCommand } from './component-command.ts';
export { connectCluster } from './connect-cluster.ts';
export { connectVault, type VaultConnection, type VaultConnectionOptions } from './connect-vault.ts';
export { readSettings } from './read-settings.ts';
