import type { Resolved, Settings } from '../../core/settings/setting.ts';
import type { Health, Metrics } from '../health/health.ts';
import type { Logger } from '../logging/logger.ts';

/** What every component is given beside its configuration. */
export interface ComponentDeps {
  readonly log: Logger;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A started component. */
export interface Running {
  /** Facts for the start-up line, such as `address`. */
  readonly facts: Readonly<Record<string, string>>;
  /** Settles when the component has drained after its signal was aborted, or rejects when it broke. */
  readonly closed: Promise<void>;
  /** Replaces what `/metrics` shows, for a component that gathers it from several processes. */
  readonly expose?: Metrics['expose'];
}

/**
 * A long-running part of svc. Built-in ones live in src/plugins/<name>, installed
 * plugins bring their own; `svc run <name>` starts either in the same way.
 */
export interface Component<S extends Settings = Settings> {
  readonly name: string;
  /** The key `health`, a listen address or undefined, is where the runtime serves health and metrics. */
  readonly settings: S;
  /**
   * What the settings need from each other: one error a line, led by the variable's
   * name; empty when there is none. Reading a setting that is itself wrong throws:
   * use `applyRules`, which passes over such a rule.
   */
  check?(config: Resolved<S>): readonly string[];
  /** Resolves when serving; `signal` asks it to drain and end. */
  start(config: Resolved<S>, deps: ComponentDeps, signal: AbortSignal): Promise<Running>;
}

/** What `componentCommand` makes the command `svc run <component>` of. */
export interface ComponentCommandOptions<S extends Settings> {
  readonly summary: string;
  readonly description?: string;
  readonly examples?: string[];
  /** The light declaration, which `--help` shows without loading the component. */
  readonly settings: S;
  /** Imports the component when it is to run. */
  readonly load: () => Promise<Component<S>>;
}
