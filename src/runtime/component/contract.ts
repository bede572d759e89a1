import type { Health, Metrics } from '../health/health.ts';
import type { Logger } from '../logging/logger.ts';
import type { Resolved, Settings } from '../settings/setting.ts';

/** Dependencies that every component gets besides its configuration. */
export interface ComponentDeps {
  readonly log: Logger;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A started component. */
export interface Running {
  /** Facts for the startup log line, such as `address`. */
  readonly facts: Readonly<Record<string, string>>;
  /** Resolves when the component has drained after its signal was aborted; rejects if the component failed. */
  readonly closed: Promise<void>;
  /** Replaces the content of `/metrics`, for a component that gathers metrics from several processes. */
  readonly expose?: Metrics['expose'];
}

/**
 * A long-running part of svc. Built-in components live in src/plugins/<name>, others in installed plugins;
 * `svc run <name>` starts either.
 */
export interface Component<S extends Settings = Settings> {
  readonly name: string;
  /** The key `health`, a listen address or undefined, determines where health and metrics are served. */
  readonly settings: S;
  /**
   * Rules between settings: returns one error a line, beginning with the variable's name. Reading an invalid setting
   * throws; `applyRules` skips rules that do.
   */
  check?(config: Resolved<S>): readonly string[];
  /** Resolves when serving; aborting `signal` asks the component to drain and end. */
  start(config: Resolved<S>, deps: ComponentDeps, signal: AbortSignal): Promise<Running>;
}

/** Options from which `componentCommand` creates `svc run <component>`. */
export interface ComponentCommandOptions<S extends Settings> {
  readonly summary: string;
  readonly description?: string;
  readonly examples?: string[];
  /** The lightweight declaration that `--help` uses without loading the component. */
  readonly settings: S;
  /** Imports the component when it has to run. */
  readonly load: () => Promise<Component<S>>;
}
