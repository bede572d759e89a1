import type { Times } from './contract.ts';

/** `struct svc_hit` of bpf/svc.h: the time comes first, and what follows tells one attempt from another. */
const timeLength = 8;

interface Merged {
  readonly record: Buffer;
  count: number;
  last: bigint;
}

/** Records of one turn that differ in nothing but their time, as one: decoding and telling each costs far more. */
export class EqualRecords {
  readonly #merged = new Map<string, Merged>();

  /** @param record is of use until this returns */
  add(record: Uint8Array): void {
    const view = Buffer.from(record.buffer, record.byteOffset, record.length);
    const key = view.toString('latin1', timeLength);
    const known = this.#merged.get(key);
    if (known === undefined) {
      this.#merged.set(key, { record: Buffer.from(view), count: 1, last: timeOf(view) });
      return;
    }
    known.count += 1;
    known.last = timeOf(view);
  }

  /** Hands them over in the order of their first ones, and forgets them. */
  handOver(take: (record: Buffer, times: Times) => void): void {
    const merged = [...this.#merged.values()];
    this.#merged.clear();
    for (const { record, count, last } of merged) take(record, { count, last });
  }
}

/** 0 for what is too short to be a hit. */
const timeOf = (record: Buffer) => (record.length < timeLength ? 0n : record.readBigUInt64LE());
