import { copyAt, withBytes, withMemory, withString } from '../native/c-memory.ts';
import { bpfAddress, bpfInt, bpfPointer } from './libbpf.ts';
import { incomplete } from './object-invalid.ts';
import { type Variable, variablesIn } from './variables.ts';

/** Values of `const volatile` variables, by name: integers of 1 to 8 bytes, or all bytes of anything else. */
export type Constants = Readonly<Record<string, number | bigint | Uint8Array>>;

const section = '.rodata';

/**
 * Sets constants of an object that is opened and not yet loaded.
 * @throws SvcError BPF_OBJECT_INCOMPLETE for one that it does not have, RangeError for a value that does not fit
 */
export function setConstants(name: string, object: bigint, constants: Constants): void {
  const variables = variablesIn(object, section);
  changeSection(name, object, (bytes) => {
    for (const [constant, value] of Object.entries(constants)) {
      const place = variables.get(constant);
      if (place === undefined) throw incomplete(name, `constant ${constant}`);
      bytes.set(encoded(constant, value, place), place.offset);
    }
  });
}

function changeSection(name: string, object: bigint, change: (bytes: Buffer) => void): void {
  const map = withString(section, (text) => bpfAddress('bpf_object__find_map_by_name', object, text));
  if (map === 0n) throw incomplete(name, 'constants');
  const bytes = initialValue(name, map);
  change(bytes);
  withBytes(bytes, (from) => bpfInt(name, 'bpf_map__set_initial_value', map, from, BigInt(bytes.length)));
}

function initialValue(name: string, map: bigint): Buffer {
  return withMemory(8, ({ address, bytes }) => {
    const at = bpfPointer(name, 'bpf_map__initial_value', map, address);
    return copyAt(at, Number(bytes.readBigUInt64LE()));
  });
}

function encoded(name: string, value: number | bigint | Uint8Array, { length }: Variable): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : integer(BigInt(value), length);
  if (bytes?.length !== length)
    throw new RangeError(`Constant ${name} has ${length} bytes: the value differs`);
  return bytes;
}

/** @returns undefined for one that does not fit, signed or unsigned */
function integer(value: bigint, length: number): Uint8Array | undefined {
  const bits = length * 8;
  if (length > 8 || (BigInt.asUintN(bits, value) !== value && BigInt.asIntN(bits, value) !== value))
    return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes.subarray(0, length);
}
