import type { TLSSocket } from 'node:tls';

/**
 * Heads of reports have some 2 KiB with their token, and come at most 8 times a second; a frame of a report has 9 bytes.
 */
const burst = 256 * 1024;
const perSecond = 32 * 1024;
const everyMs = 250;

/**
 * What a connection sends beside its reports: heads, padding, and frames without a payload. Frames are cheap to send,
 * each costs the event loop of all something, and Node tells nobody about most of them, so that their bytes are counted:
 * a connection that sends more than any agent does is ended.
 */
export class SentBeside {
  readonly #socket: Pick<TLSSocket, 'bytesRead'>;
  readonly #timer: NodeJS.Timeout;
  #left = burst;
  #reported = 0;
  /** Of the bytes beside reports. */
  #seen: number;

  constructor(socket: Pick<TLSSocket, 'bytesRead'>, onExcess: () => void) {
    this.#socket = socket;
    this.#seen = socket.bytesRead;
    this.#timer = setInterval(() => {
      if (this.#isExcess()) onExcess();
    }, everyMs).unref();
  }

  /** Counts bytes of a report. */
  reported(bytes: number): void {
    this.#reported += bytes;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #isExcess(): boolean {
    const beside = this.#socket.bytesRead - this.#reported;
    // bytes of a report may be counted before those of the connection
    this.#left = Math.min(
      burst,
      this.#left + (perSecond * everyMs) / 1_000 - Math.max(0, beside - this.#seen),
    );
    this.#seen = Math.max(this.#seen, beside);
    return this.#left < 0;
  }
}
