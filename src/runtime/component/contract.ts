import type { Resolved, Settings } from '../../core/settings/setting.ts';
import type { Health, Metrics } from '../health/health.ts';
import type { Logger } from '../logging/logger.ts';

/** What every component gets besides its configuration. */
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
  /** Resolves when the component has drained after its signal was aborted; rejects if it failed. */
  readonly closed: Promise<void>;
  /** Replaces the content of `/metrics`, for a component that collects it from several processes. */
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
   * Rules between settings: one error a line, beginning with the variable's name; empty if there is none. Reading an
   * invalid setting throws: use `applyRules`, which skips such a rule.
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
  /** The light declaration, with which `--help` works without loading the component. */
  readonly settings: S;
  /** Imports the component when it is to run. */
  readonly load: () => Promise<Component<S>>;
}
