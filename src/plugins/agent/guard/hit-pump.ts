import type { Hit } from '../../../core/protection/hit.ts';
import { decodeHit } from '../../../core/protection/layouts.ts';
import type { BpfMap } from '../../../runtime/bpf/map.ts';
import { openRingBuffer } from '../../../runtime/bpf/ring-buffer.ts';
import type { HitListener, Times } from './contract.ts';
import { EqualRecords } from './merge-equal.ts';

/** Carries hits from the kernel's ring to the agent, by the clock: 20 times a second. */
export interface HitPump {
  close(): void;
}

const intervalMs = 50;
/** Of one turn of the event loop; the ring holds some forty thousand. */
const mostAtOnce = 8192;

/** @param onUnknown is called for a record that is no hit: another version's programs wrote it */
export function startHitPump(map: BpfMap, onHit: HitListener, onUnknown: () => void): HitPump {
  const ring = openRingBuffer(map);
  const equal = new EqualRecords();
  const add = (record: Uint8Array) => equal.add(record);
  const tell = (record: Buffer, times: Times) => {
    const hit = decoded(record);
    if (hit === undefined) onUnknown();
    else onHit(hit, times);
  };
  const drain = () => {
    ring.drain(mostAtOnce, add);
    equal.handOver(tell);
  };
  const timer = setInterval(drain, intervalMs);
  return {
    close() {
      clearInterval(timer);
      drain();
      ring.close();
    },
  };
}

function decoded(record: Buffer): Hit | undefined {
  try {
    return decodeHit(record);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
