import type { Settings } from '../../core/settings/setting.ts';
import type { Component } from '../component/contract.ts';

export interface ComponentCommandOptions<S extends Settings> {
  readonly summary: string;
  readonly description?: string;
  readonly examples?: string[];
  /** The light declaration, which `--help` shows without loading the component. */
  readonly settings: S;
  /** Imports the component when it is to run. */
  readonly load: () => Promise<Component<S>>;
}
