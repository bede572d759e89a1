import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { NativeError } from '../../../runtime/native/libc.ts';
import { copyAt, stringAt, withBytes, withMemory, withString } from '../../../runtime/native/memory.ts';
import { bpfAddress, bpfInt, bpfPointer, loadLibbpf } from './libbpf.ts';

/** Values of `const volatile` variables by name: integers of 1 to 8 bytes, or the complete bytes of any other type. */
export type Constants = Readonly<Record<string, number | bigint | Uint8Array>>;

const section = '.rodata';

/**
 * Sets constants of an object that is opened but not loaded.
 * @throws SvcError BPF_OBJECT_INCOMPLETE for a constant that the object lacks, RangeError for a value that does not fit
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

/** @returns undefined for a value that fits neither signed nor unsigned */
function integer(value: bigint, length: number): Uint8Array | undefined {
  const bits = length * 8;
  if (length > 8 || (BigInt.asUintN(bits, value) !== value && BigInt.asIntN(bits, value) !== value))
    return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes.subarray(0, length);
}

/** Position and size in the section, in bytes. */
interface Variable {
  readonly offset: number;
  readonly length: number;
}

/** Sizes of `struct btf_type` and `struct btf_var_secinfo`. */
const typeLength = 12;
const placeLength = 12;
const sectionKind = 15;
const countMask = 0xffff;

/** The variables in a section of an opened object, by name, from its type information (BTF). */
function variablesIn(object: bigint, section: string): Map<string, Variable> {
  const types = bpfAddress('bpf_object__btf', object);
  const id = withString(section, (text) =>
    loadLibbpf().int('btf__find_by_name_kind', types, text, sectionKind),
  );
  if (id < 0) return new Map();
  const address = bpfAddress('btf__type_by_id', types, id);
  const count = copyAt(address, typeLength).readUInt32LE(4) & countMask;
  const places = copyAt(address + BigInt(typeLength), count * placeLength);
  return new Map(Array.from({ length: count }, (_, index) => entry(types, places, index * placeLength)));
}

function entry(types: bigint, places: Buffer, at: number): [string, Variable] {
  const [type, offset, length] = [0, 4, 8].map((field) => places.readUInt32LE(at + field));
  return [nameOf(types, type ?? 0), { offset: offset ?? 0, length: length ?? 0 }];
}

function nameOf(types: bigint, id: number): string {
  const offset = copyAt(bpfAddress('btf__type_by_id', types, id), typeLength).readUInt32LE();
  return stringAt(bpfAddress('btf__name_by_offset', types, offset));
}

const nextStep =
  'Use the objects of the same release as the agent: reinstall the package, or run npm run build.';

/** Error for an object that lacks a requested name. */
export function incomplete(name: string, what: string): SvcError {
  return new SvcError('BPF_OBJECT_INCOMPLETE', `The BPF object ${name} has no ${what}`, {
    nextStep,
    exitStatus: exitStatus.internal,
  });
}

/** Error for a file that libbpf cannot read. */
export function invalid(name: string, cause: NativeError): SvcError {
  return new SvcError('BPF_OBJECT_INVALID', `The BPF object ${name} cannot be read: ${cause.errnoName}`, {
    nextStep,
    exitStatus: exitStatus.internal,
    cause,
  });
}
