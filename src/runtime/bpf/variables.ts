import { copyAt, stringAt, withString } from '../native/c-memory.ts';
import { bpfAddress, loadLibbpf } from './libbpf.ts';

/** Where a variable lies in its section, in bytes. */
export interface Variable {
  readonly offset: number;
  readonly length: number;
}

/** Of `struct btf_type` and `struct btf_var_secinfo`. */
const typeLength = 12;
const placeLength = 12;
const sectionKind = 15;
const countMask = 0xffff;

/** The variables in a section of an opened object, by name, as its type information (BTF) tells. */
export function variablesIn(object: bigint, section: string): Map<string, Variable> {
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
