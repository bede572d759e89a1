import type { ImageCommand } from '../../../../src/cluster/injection/contract.ts';
import type { Container, EnvironmentVariable } from '../../../../src/cluster/kube/pod.ts';
import { decodeOriginalArgs } from '../../../../src/runtime/settings/setting.ts';

/**
 * What a container's process gets, as kubelet and runtime put it together; written after their Go code and not after the
 * code under test. Sources: pkg/kubelet/kubelet_pods.go (makeEnvironmentVariables),
 * third_party/forked/golang/expansion/expand.go, containerd's WithProcessArgs.
 */
export function argvOf(container: Container, image: ImageCommand | undefined): string[] {
  const env = environmentOf(container);
  const expandAll = (words: readonly string[] = []) => words.map((word) => expand(word, env));
  const command = expandAll(container.command);
  const args = expandAll(container.args);
  if (command.length > 0) return [...command, ...args];
  const entrypoint = image?.entrypoint ?? [];
  const words = entrypoint.length === 1 && entrypoint[0] === '' ? [] : entrypoint;
  return [...words, ...(args.length > 0 ? args : (image?.cmd ?? []))];
}

/** What the wrapper of such a container starts: what stands behind `--`, or the two variables. */
export function startedByWrapper(container: Container): string[] {
  const [program, separator, ...rest] = argvOf(container, undefined);
  if (program !== '/svc/svc-wrapper') throw new Error(`${container.name} starts ${program}`);
  if (separator === '--') return rest;
  if (separator !== undefined) throw new Error(`${container.name} gives the wrapper ${separator}`);
  const env = environmentOf(container);
  return [env.get('SVC_ORIGINAL_CMD') ?? '', ...decodeOriginalArgs(env.get('SVC_ORIGINAL_ARGS'))];
}

export function environmentOf({ env = [], envFrom = [] }: Container): Map<string, string> {
  const known = new Map(envFrom.length > 0 ? [['FROM_MAP', 'one,two']] : []);
  for (const variable of env) known.set(variable.name, valueIn(variable, known));
  return known;
}

function valueIn({ value = '', valueFrom }: EnvironmentVariable, known: ReadonlyMap<string, string>): string {
  if (value !== '') return expand(value, known);
  if (valueFrom === undefined) return '';
  if (valueFrom.fieldRef !== undefined) return `<${valueFrom.fieldRef.fieldPath}>`;
  return valueFrom.resourceFieldRef === undefined ? 'a,b\\c$(X)' : '7';
}

function expand(input: string, known: ReadonlyMap<string, string>): string {
  let out = '';
  for (let at = 0; at < input.length; at++) {
    const next = input[at + 1];
    if (input[at] !== '$' || next === undefined) out += input[at];
    else if (next === '(') {
      const end = input.indexOf(')', at);
      const name = input.slice(at + 2, end);
      out += end === -1 ? '$(' : (known.get(name) ?? `$(${name})`);
      at = end === -1 ? at + 1 : end;
    } else {
      out += next === '$' ? '$' : `$${next}`;
      at++;
    }
  }
  return out;
}
