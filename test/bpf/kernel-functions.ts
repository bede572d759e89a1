import { readTypes, type Type } from './btf.ts';

/** The parameters of functions of the running kernel, each type as C writes it, by the kernel's BTF. */
export interface KernelFunctions {
  /** Undefined for a function that there is not. */
  parametersOf(name: string): string[] | undefined;
  /** Those of what is told at a tracepoint. */
  parametersAt(tracepoint: string): string[] | undefined;
}

export async function readKernelFunctions(): Promise<KernelFunctions> {
  const types = await readTypes('/sys/kernel/btf/vmlinux');
  const byId = new Map(types.map((type) => [type.id, type]));
  const target = (type: Type | undefined) => byId.get(type?.type_id ?? 0);
  const parameters = (type: Type | undefined) =>
    type?.params?.map(({ type_id }) => written(byId.get(type_id), target));
  return {
    parametersOf: (name) => parameters(target(types.find((type) => isNamed(type, 'FUNC', name)))),
    parametersAt(tracepoint) {
      const pointer = target(types.find((type) => isNamed(type, 'TYPEDEF', `btf_trace_${tracepoint}`)));
      // the first is the tracepoint's own
      return parameters(target(pointer))?.slice(1);
    },
  };
}

const isNamed = (type: Type, kind: string, name: string) => type.kind === kind && type.name === name;

function written(type: Type | undefined, target: (type: Type) => Type | undefined): string {
  if (type === undefined) return 'void';
  if (type.kind === 'PTR') return `${written(target(type), target)} *`;
  if (type.kind === 'CONST') return `const ${written(target(type), target)}`;
  if (type.kind === 'STRUCT' || type.kind === 'FWD') return `struct ${type.name}`;
  return type.kind === 'ENUM' ? `enum ${type.name}` : type.name;
}
