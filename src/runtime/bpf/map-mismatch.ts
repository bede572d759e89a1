import { NativeError } from '../native/native-error.ts';
import type { LoadFinding } from './load-error.ts';
import { openPinnedMap } from './map.ts';
import type { MapFacts } from './map-facts.ts';
import { declaredFacts, mapHandles, mapName, pinPath } from './object-maps.ts';

type Layout = Omit<MapFacts, 'id'>;

/** The first map of an object in whose place one of another layout is pinned. */
export function mismatchedMap(object: bigint): LoadFinding | undefined {
  for (const map of mapHandles(object)) {
    const lines = differences(map);
    if (lines.length > 0) return { reason: 'map-mismatch', subject: `map ${mapName(map)}`, lines };
  }
  return undefined;
}

function differences(map: bigint): string[] {
  const path = pinPath(map);
  const pinned = path === undefined ? undefined : pinnedFacts(path);
  return pinned === undefined ? [] : layoutDifferences(declaredFacts(map), pinned);
}

function pinnedFacts(path: string): MapFacts | undefined {
  try {
    const map = openPinnedMap(path);
    map.close();
    return map.facts;
  } catch (error) {
    if (error instanceof NativeError) return undefined;
    throw error;
  }
}

/** What differs, a line each. */
export function layoutDifferences(declared: Layout, pinned: Layout): string[] {
  return (Object.keys(names) as (keyof Layout)[])
    .filter((fact) => declared[fact] !== pinned[fact])
    .map((fact) => `${names[fact]}: ${declared[fact]} declared, ${pinned[fact]} pinned`);
}

const names: Record<keyof Layout, string> = {
  type: 'type',
  keySize: 'key size',
  valueSize: 'value size',
  maxEntries: 'max entries',
  flags: 'flags',
};
