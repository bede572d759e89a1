import type { Region } from '../../native/region.ts';
import type { SecretMemory } from '../../native/secret-memory.ts';

/** Secret memory that knows which of its regions are in use. */
export class KeptRegions implements SecretMemory {
  readonly #memory: SecretMemory;
  #regions: Region[] = [];

  constructor(memory: SecretMemory) {
    this.#memory = memory;
  }

  allocate(length: number): Region {
    const region = this.#memory.allocate(length);
    this.#regions = [...this.inUse(), region];
    return region;
  }

  inUse(): readonly Region[] {
    return this.#regions.filter(isHeld);
  }
}

/** A region that was released has no bytes any more. */
export function isHeld(region: Region): boolean {
  try {
    return region.bytes.length === region.length;
  } catch {
    return false;
  }
}
