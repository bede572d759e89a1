import type { FailOn } from '../../core/checks/contract.ts';
import type { Settings } from '../../core/settings/setting.ts';
import type { Screen } from '../../runtime/cli/terminal.ts';
import type { Component } from '../../runtime/component/contract.ts';
import type { Area, Format } from './settings.ts';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Output extends Screen {
  write(text: string): unknown;
}

/** What `svc validate` was called with, as its flags are named, without those of settings. */
export interface ValidateFlags {
  readonly output: Format;
  readonly json: boolean;
  readonly 'fail-on': FailOn;
  readonly wait?: string | undefined;
  readonly ignore?: readonly string[] | undefined;
  readonly area?: readonly Area[] | undefined;
  readonly check?: readonly string[] | undefined;
  readonly pre: boolean;
  readonly node: boolean;
  readonly config?: string | undefined;
}

export interface ValidateCall {
  readonly flags: ValidateFlags;
  /** Flags of settings, by name. */
  readonly given: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Env;
  readonly stdout: Output;
  /** Progress and warnings go there. */
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  /** Of svc. */
  readonly version: string;
  /** Those whose configuration is looked at. Loaded when a check asks. */
  readonly components: () => Promise<readonly ComponentRules[]>;
  /** The proxy, for a canary object where none runs. */
  readonly proxy: () => Promise<Component>;
}

/** What the configuration of a component has to be like. */
export interface ComponentRules {
  readonly name: string;
  readonly settings: Settings;
  check?(config: never): readonly string[];
}
