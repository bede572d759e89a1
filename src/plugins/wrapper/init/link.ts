import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Region } from '../../../runtime/native/memory.ts';
import {
  type ReceivedRecord,
  receiveRecord,
  sendRecord,
  waitReadable,
} from '../../../runtime/native/record-channel.ts';
import { type ShareableMemory, sharedRegion } from '../../../runtime/native/secret-memory.ts';
import { recordKind, workerSocket } from './records.ts';

const replyMs = 10_000;
const pollMs = 10;

/** What svc-init kept since the last worker. */
export interface KeptByInit {
  readonly state: Region | undefined;
  /** The records that the application shares, if rotation renews them in place. */
  readonly shared: Region | undefined;
  /** Of the application; 0 if none runs. */
  readonly pid: number;
  /** Of svc-init's memory, in bytes. */
  readonly locked: number;
  readonly unlocked: number;
}

/** A worker's end of the socket to svc-init. */
export class WorkerLink {
  readonly socket = workerSocket;
  readonly memory: ShareableMemory;
  /** Starts of the application that were reported while another answer was awaited. */
  readonly #started: ReceivedRecord[] = [];

  constructor(memory: ShareableMemory) {
    this.memory = memory;
  }

  /** Requests the state, once this process is protected. */
  takeOver(): KeptByInit {
    sendRecord(this.socket, { kind: recordKind.hello });
    let state: Region | undefined;
    let shared: Region | undefined;
    for (;;) {
      const { kind, number, descriptor, values } = nextRecord();
      const region = descriptor === undefined ? undefined : sharedRegion(descriptor);
      if (kind === recordKind.state) state = region;
      if (kind === recordKind.shared) shared = region;
      if (kind !== recordKind.running) continue;
      const [locked = 0, unlocked = 0] = values;
      return { state, shared, pid: number, locked, unlocked };
    }
  }

  /** A connection to the node agent that svc-init opened: the agent identifies the caller by who connected. */
  readonly connectAgent = (): Socket | undefined => {
    const { descriptor } = this.#ask(recordKind.agent);
    return descriptor === undefined ? undefined : new Socket({ fd: descriptor });
  };

  /** The service account token, opened by svc-init: the node agent lets svc-init open it, but none of its children. */
  readonly openServiceAccountToken = (): number | undefined => this.#ask(recordKind.token).descriptor;

  /**
   * Waits until svc-init has started an application.
   * @returns its process id; 0 if no application is to run again
   * @throws the signal's reason
   */
  async started(signal?: AbortSignal): Promise<number> {
    for (;;) {
      const record = this.#started.shift() ?? receiveRecord(this.socket);
      if (record?.kind === recordKind.started) return record.number;
      signal?.throwIfAborted();
      await sleep(pollMs);
    }
  }

  #ask(kind: number): ReceivedRecord {
    sendRecord(this.socket, { kind });
    for (;;) {
      const record = nextRecord();
      if (record.kind === kind) return record;
      if (record.kind === recordKind.started) this.#started.push(record);
    }
  }
}

function nextRecord(): ReceivedRecord {
  waitReadable(workerSocket, replyMs);
  const record = receiveRecord(workerSocket);
  if (record === undefined) throw new RangeError('svc-init does not answer');
  return record;
}
