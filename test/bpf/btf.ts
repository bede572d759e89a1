import { runCommand } from '../support/run-command.ts';
import { root } from './clang.ts';

/** A member that is a number or an array of bytes; those of structs within are named `outer.inner`. */
export interface Field {
  readonly path: string;
  /** Bytes. */
  readonly offset: number;
  readonly size: number;
}

export interface Struct {
  readonly size: number;
  readonly fields: readonly Field[];
}

/** What the BTF of an object tells, by names. */
export interface Btf {
  readonly structs: ReadonlyMap<string, Struct>;
  /** Values by their names, in order. */
  readonly enums: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Names of the variables in each section, with the names of their type's members. */
  readonly sections: ReadonlyMap<string, readonly Variable[]>;
}

interface Variable {
  readonly name: string;
  readonly members: readonly string[];
}

/** As bpftool shows it. */
export interface Type {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
  readonly size?: number;
  readonly type_id?: number;
  readonly nr_elems?: number;
  readonly members?: readonly { name: string; type_id: number; bits_offset: number }[];
  readonly values?: readonly { name: string; val: number }[];
  readonly params?: readonly { type_id: number }[];
  readonly vars?: readonly { type_id: number }[];
}

/** @param file of an object, from the package's folder, or of the running kernel */
export async function readTypes(file: string): Promise<Type[]> {
  const { status, stdout, stderr } = await runCommand('bpftool', ['btf', 'dump', 'file', file, '-j'], root);
  if (status !== 0) throw new Error(`bpftool cannot read ${file}: ${stderr}${stdout}`);
  return (JSON.parse(stdout) as { types: Type[] }).types;
}

/** @param object file, from the package's folder */
export async function readBtf(object: string): Promise<Btf> {
  const types = await readTypes(object);
  const byId = new Map(types.map((type) => [type.id, type]));
  const named = <T>(kind: string, value: (type: Type) => T) =>
    new Map(types.filter((type) => type.kind === kind).map((type) => [type.name, value(type)]));
  return {
    structs: named('STRUCT', (type) => ({ size: type.size ?? 0, fields: fieldsOf(byId, type) })),
    enums: named('ENUM', ({ values = [] }) => Object.fromEntries(values.map(({ name, val }) => [name, val]))),
    sections: named('DATASEC', ({ vars = [] }) => vars.map(({ type_id }) => variableOf(byId, type_id))),
  };
}

type Types = ReadonlyMap<number, Type>;

function fieldsOf(types: Types, { members = [] }: Type, prefix = '', base = 0): Field[] {
  return members.flatMap(({ name, type_id, bits_offset }) => {
    const type = resolve(types, type_id);
    const [path, offset] = [prefix + name, base + bits_offset / 8];
    if (type.kind === 'STRUCT') return fieldsOf(types, type, `${path}.`, offset);
    return [{ path, offset, size: sizeOf(types, type) }];
  });
}

function sizeOf(types: Types, type: Type): number {
  if (type.kind !== 'ARRAY') return type.size ?? 8;
  return (type.nr_elems ?? 0) * sizeOf(types, resolve(types, type.type_id ?? 0));
}

/** The type behind other names for it. */
function resolve(types: Types, id: number): Type {
  const type = types.get(id);
  if (type === undefined) throw new Error(`BTF has no type ${id}`);
  return ['TYPEDEF', 'CONST', 'VOLATILE'].includes(type.kind) ? resolve(types, type.type_id ?? 0) : type;
}

function variableOf(types: Types, id: number): Variable {
  const variable = resolve(types, id);
  const { members = [] } = resolve(types, variable.type_id ?? 0);
  return { name: variable.name, members: members.map(({ name }) => name) };
}
