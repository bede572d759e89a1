import { stringAt } from '../native/c-memory.ts';
import { bpfAddress, loadLibbpf } from './libbpf.ts';
import type { MapFacts } from './map-facts.ts';

/** The addresses of all maps of an object. */
export function* mapHandles(object: bigint): Generator<bigint> {
  let handle = bpfAddress('bpf_object__next_map', object, 0n);
  while (handle !== 0n) {
    yield handle;
    handle = bpfAddress('bpf_object__next_map', object, handle);
  }
}

export function mapName(map: bigint): string {
  return stringAt(bpfAddress('bpf_map__name', map));
}

/** Where a map is going to be pinned. */
export function pinPath(map: bigint): string | undefined {
  const path = bpfAddress('bpf_map__pin_path', map);
  return path === 0n ? undefined : stringAt(path);
}

/** A map as the object file declares it. */
export function declaredFacts(map: bigint): Omit<MapFacts, 'id'> {
  const fact = (name: string) => loadLibbpf().int(`bpf_map__${name}`, map) >>> 0;
  return {
    type: fact('type'),
    keySize: fact('key_size'),
    valueSize: fact('value_size'),
    maxEntries: fact('max_entries'),
    flags: fact('map_flags'),
  };
}
