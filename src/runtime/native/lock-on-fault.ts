import { tryInt } from './libc.ts';
import type { MappedRange } from './memory-map.ts';

const onFault = 1;

/** Locks a range page by page as it comes into use. @throws NativeError */
export function lockOnFault({ start, end }: Pick<MappedRange, 'start' | 'end'>): void {
  tryInt('mlock2', BigInt(start), BigInt(end - start), onFault);
}
