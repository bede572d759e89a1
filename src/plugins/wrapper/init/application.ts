import type { Region } from '../../../runtime/native/memory.ts';
import { sendRecord } from '../../../runtime/native/record-channel.ts';
import {
  fitsNextGeneration,
  writeGeneration,
} from '../../../runtime/protocols/secret-records/region-writer.ts';
import type { RotatedApplication } from '../keep.ts';
import type { Delivered } from '../name-secrets.ts';
import type { PreparedApplication } from '../prepare-application.ts';
import { sendRegion, sendStart } from './leave.ts';
import type { KeptByInit, WorkerLink } from './link.ts';
import { recordKind } from './records.ts';

const hangUp = 1;

/** The application as svc-init runs it, seen by a worker that makes one pass. */
export class InitApplication implements RotatedApplication {
  readonly #link: WorkerLink;
  readonly #stateWith: (inUse: string) => Region;
  #shared: Region | undefined;
  pid: number;

  constructor(link: WorkerLink, { shared, pid }: KeptByInit, stateWith: (inUse: string) => Region) {
    this.#link = link;
    this.#stateWith = stateWith;
    this.#shared = shared;
    this.pid = pid;
  }

  get regions(): readonly Region[] {
    return this.#shared === undefined ? [] : [this.#shared];
  }

  /** Once requested, the restart happens even if this worker ends; the new state tells the next one that it is done. */
  async restart(prepared: PreparedApplication, digest: string): Promise<boolean> {
    const state = this.#stateWith(digest);
    sendStart(this.#link, prepared);
    sendRegion(this.#link.socket, recordKind.state, state);
    this.#shared = prepared.region;
    this.pid = await this.#link.started();
    return this.pid !== 0;
  }

  renew(delivered: readonly Delivered[]): boolean {
    return renewBySignal(this.#link, this.#shared, delivered);
  }
}

/** The application of a worker that stays, which holds the regions itself. */
export class ResidentApplication implements RotatedApplication {
  readonly #link: WorkerLink;
  readonly #options: ResidentOptions;
  #prepared: PreparedApplication | undefined;

  constructor(link: WorkerLink, options: ResidentOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** Regions that still hold the secrets in use. */
  get regions(): readonly Region[] {
    const prepared = this.#prepared;
    return prepared !== undefined && this.#keeps(prepared) ? [prepared.region] : [];
  }

  /**
   * Starts it, in place of a running one. @returns false if no application is to run again
   * @throws SvcError (127, 126) for a program that cannot be found or run; the signal's reason
   */
  async restart(prepared: PreparedApplication): Promise<boolean> {
    sendStart(this.#link, prepared);
    const pid = await this.#link.started(this.#options.signal);
    this.#prepared?.region.release();
    this.#prepared = prepared;
    if (pid !== 0) this.#options.onStart(prepared, pid);
    this.#letGo(prepared);
    return pid !== 0;
  }

  renew(delivered: readonly Delivered[]): boolean {
    return renewBySignal(this.#link, this.regions[0], delivered);
  }

  #letGo(prepared: PreparedApplication): void {
    if (this.#keeps(prepared)) return;
    if (prepared.shared) prepared.region.handOver();
    else prepared.region.release();
  }

  /** Memory renewed in place is still needed here; of anything else the application has its own copy. */
  #keeps({ shared }: PreparedApplication): boolean {
    return shared && this.#options.keepsShared;
  }
}

export interface ResidentOptions {
  /** Whether rotation renews the shared records in place. */
  readonly keepsShared: boolean;
  /** Aborted by a signal that ends the wrapper before the first start. */
  readonly signal: AbortSignal;
  /** Called after an application has started, while its region still exists; must not throw. */
  readonly onStart: (prepared: PreparedApplication, pid: number) => void;
}

/** Renews the shared records in place and makes svc-init send SIGHUP. False if the region is too small. */
function renewBySignal(
  { socket }: WorkerLink,
  shared: Region | undefined,
  delivered: readonly Delivered[],
): boolean {
  if (shared !== undefined) {
    if (!fitsNextGeneration(shared.bytes, delivered)) return false;
    writeGeneration(shared.bytes, delivered);
  }
  sendRecord(socket, { kind: recordKind.notify, number: hangUp });
  return true;
}
