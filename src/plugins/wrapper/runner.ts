import type { Logger } from '../../runtime/logging/logger.ts';
import type { Region } from '../../runtime/native/memory.ts';
import { fitsNextGeneration, writeGeneration } from '../../runtime/protocols/secret-records/region-writer.ts';
import type { Delivered } from './name-secrets.ts';
import type { Observation } from './observation.ts';
import type { PreparedApplication } from './prepare-application.ts';
import type { ResolvedWrapperSettings } from './settings.ts';
import type { Application, Ending, Supervisor } from './supervise/index.ts';

export interface RunnerOptions {
  readonly supervisor: Supervisor;
  readonly settings: Pick<ResolvedWrapperSettings, 'stopGrace' | 'rotation'>;
  readonly observation: Observation;
  readonly log: Logger;
  /** Once this is aborted, for example by a signal while no application ran, no application is started. */
  readonly interrupted: AbortSignal;
  /** Called after an application has started, while its region still exists; must not throw. */
  readonly onStart: (prepared: PreparedApplication, pid: number) => void;
}

/** Runs the application, one process at a time, until it exits or is stopped. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #over = Promise.withResolvers<Ending>();
  #application: Application | undefined;
  #prepared: PreparedApplication | undefined;
  #restarting = false;
  #ended = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** How the application finally ended. @rejects SvcError (126, 127) if it could not be restarted */
  get ended(): Promise<Ending> {
    return this.#over.promise;
  }

  /** @throws SvcError (127, 126, 78) if the program cannot be run */
  start(prepared: PreparedApplication): void {
    const { supervisor, observation, log, onStart } = this.#options;
    const application = supervisor.start(prepared.launch);
    this.#application = application;
    this.#prepared = prepared;
    observation.starts.inc();
    observation.up.set(1);
    observation.health.ready('application');
    log.info('application.started', { pid: application.pid, descriptor: prepared.shared });
    void application.ended.then((ending) => this.#noticed(ending));
    onStart(prepared, application.pid);
    this.#letGo(prepared);
  }

  /** The wrapper's regions that still hold the secrets in use. */
  get regions(): readonly Region[] {
    const prepared = this.#prepared;
    return prepared !== undefined && this.#keeps(prepared) ? [prepared.region] : [];
  }

  /**
   * Stops the application and starts it with new secrets.
   * @returns false if it must not run again, because it has exited by itself or its end was requested
   */
  async restart(prepared: PreparedApplication): Promise<boolean> {
    const application = this.#application;
    if (application === undefined || this.#ended) {
      prepared.region.release();
      return false;
    }
    try {
      const ending = await this.#stop(application);
      if (application.endRequest === undefined && !this.#options.interrupted.aborted) {
        this.start(prepared);
        return true;
      }
      this.#over.resolve(ending);
    } catch (error) {
      this.#over.reject(error);
    }
    prepared.region.release();
    return false;
  }

  async #stop(application: Application): Promise<Ending> {
    const { supervisor, settings, observation } = this.#options;
    this.#restarting = true;
    observation.health.notReady('application', 'is being restarted with new secrets');
    const ending = await application.stop(settings.stopGrace);
    await supervisor.end(settings.stopGrace);
    this.#prepared?.region.release();
    this.#restarting = false;
    return ending;
  }

  /** Renews the shared records in place and sends SIGHUP. @returns false if the region is too small */
  renew(delivered: readonly Delivered[]): boolean {
    const prepared = this.#prepared;
    if (prepared?.shared) {
      if (!fitsNextGeneration(prepared.region.bytes, delivered)) return false;
      writeGeneration(prepared.region.bytes, delivered);
    }
    this.#application?.signal('SIGHUP');
    return true;
  }

  /** Wipes the region that it still holds. */
  close(): void {
    this.#prepared?.region.release();
  }

  #letGo(prepared: PreparedApplication): void {
    if (this.#keeps(prepared)) return;
    if (prepared.shared) prepared.region.handOver();
    else prepared.region.release();
  }

  /** Memory renewed in place is still needed here; of anything else the application has its own copy. */
  #keeps({ shared }: PreparedApplication): boolean {
    return shared && this.#options.settings.rotation === 'sighup';
  }

  #noticed(ending: Ending): void {
    const { observation, log } = this.#options;
    observation.up.set(0);
    observation.health.notReady('application', 'has ended');
    log.info('application.ended', { pid: ending.pid, exit_code: ending.exitCode, signal: ending.signal });
    if (this.#restarting) return;
    this.#ended = true;
    this.#over.resolve(ending);
  }
}
