import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ring, spaceOf, takeRecords } from '../../../../src/plugins/agent/bpf/ring-buffer.ts';

const size = 256;
const busy = 0x8000_0000;
const discarded = 0x4000_0000;

interface Entry {
  bytes: Uint8Array;
  flags?: number;
}

/** A ring in ordinary memory, written as the kernel writes one. */
class FakeRing implements Ring {
  readonly consumer = new BigUint64Array(1);
  readonly producer = new BigUint64Array(1);
  readonly data = new Uint8Array(2 * size);

  constructor(start = 0n) {
    this.consumer[0] = start;
    this.producer[0] = start;
  }

  /** @returns whether there was room */
  write({ bytes, flags = 0 }: Entry): boolean {
    const at = this.#position('producer');
    if (at - this.#position('consumer') + BigInt(spaceOf(bytes.length)) > BigInt(size)) return false;
    const header = Buffer.alloc(8);
    header.writeUInt32LE((bytes.length | flags) >>> 0);
    this.#put(at, Buffer.concat([header, bytes]));
    this.producer[0] = at + BigInt(spaceOf(bytes.length));
    return true;
  }

  /** What the kernel does as a record is finished. */
  setHeader(at: bigint, header: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(header >>> 0);
    this.#put(at, bytes);
  }

  #position(of: 'producer' | 'consumer'): bigint {
    return this[of][0] ?? 0n;
  }

  /** The two halves show the same memory. */
  #put(at: bigint, bytes: Uint8Array): void {
    for (const [index, byte] of bytes.entries()) {
      const place = Number((at + BigInt(index)) % BigInt(size));
      this.data[place] = byte;
      this.data[place + size] = byte;
    }
  }
}

function taken(ring: Ring, most = 1000): string[] {
  const records: string[] = [];
  const count = takeRecords(ring, most, (record) => records.push(Buffer.from(record).toString()));
  assert.is(count, records.length);
  return records;
}

const text = (content: string, flags = 0): Entry => ({ bytes: Buffer.from(content), flags });

const walking = suite('taking records out of a ring');

walking('hands out what is there, in its order, once', () => {
  const ring = new FakeRing();
  for (const content of ['one', '', 'twelve bytes']) ring.write(text(content));
  assert.equal(taken(ring), ['one', '', 'twelve bytes']);
  assert.equal(ring.consumer, ring.producer);
  assert.equal(taken(ring), []);
});

walking('hands out no more than asked for, and the rest the next time', () => {
  const ring = new FakeRing();
  for (const content of ['a', 'b', 'c']) ring.write(text(content));
  assert.equal(taken(ring, 0), []);
  assert.equal(taken(ring, 2), ['a', 'b']);
  assert.equal(taken(ring, 2), ['c']);
});

walking('stops at a record that is being written, and takes it once it is finished', () => {
  const ring = new FakeRing();
  ring.write(text('done'));
  ring.write(text('open', busy));
  ring.write(text('after'));
  assert.equal(taken(ring), ['done']);
  assert.is(ring.consumer[0], BigInt(spaceOf(4)));
  ring.setHeader(BigInt(spaceOf(4)), 4);
  assert.equal(taken(ring), ['open', 'after']);
});

walking('skips what was discarded', () => {
  const ring = new FakeRing();
  ring.write(text('gone', discarded));
  ring.write(text('kept'));
  ring.write(text('gone too', discarded));
  assert.equal(taken(ring), ['kept']);
  assert.equal(ring.consumer, ring.producer);
});

walking('hands out a record over the end in one piece', () => {
  const ring = new FakeRing(BigInt(size - 8));
  ring.write(text('over the end of it'));
  assert.equal(taken(ring), ['over the end of it']);
});

walking('takes a record that the caller throws for, so that the next call goes on after it', () => {
  const ring = new FakeRing();
  for (const content of ['bad', 'good']) ring.write(text(content));
  const refuse = () => {
    throw new Error('no');
  };
  assert.throws(() => takeRecords(ring, 10, refuse), 'no');
  assert.equal(taken(ring), ['good']);
});

walking('frees each record before the next is handed out', () => {
  const ring = new FakeRing();
  for (const content of ['a', 'b']) ring.write(text(content));
  const positions: bigint[] = [];
  takeRecords(ring, 10, () => positions.push(ring.consumer[0] ?? 0n));
  assert.equal(positions, [0n, 16n]);
});

const entry = fc.record({
  bytes: fc.uint8Array({ maxLength: 40 }),
  flags: fc.constantFrom(0, 0, 0, discarded),
});
const steps = fc.array(fc.oneof(entry, fc.integer({ min: 0, max: 5 })), { maxLength: 200 });

walking('loses, repeats and changes nothing, wherever the ring starts', () => {
  fc.assert(
    fc.property(steps, fc.bigInt({ min: 0n, max: 1n << 60n }), (sequence, start) => {
      const ring = new FakeRing(start * 8n);
      const [expected, got]: [string[], string[]] = [[], []];
      const keep = (record: Uint8Array) => got.push(Buffer.from(record).toString('hex'));
      for (const step of sequence) {
        if (typeof step === 'number') takeRecords(ring, step, keep);
        else if (ring.write(step) && step.flags === 0) expected.push(Buffer.from(step.bytes).toString('hex'));
      }
      takeRecords(ring, 1000, keep);
      assert.equal(got, expected);
    }),
  );
});

walking.run();
