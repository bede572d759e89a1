import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { requireTool } from '../testbed/ensure.ts';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from './temporary.ts';
import type { CommandResult } from './types.ts';

export const CHART = fileURLToPath(new URL('../../manifests/chart', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: objects of every kind are picked apart freely
export type Manifest = any;

export interface Helm {
  readonly program: string;
  /** Runs helm with a home of its own; `kubeconfig` where it is to reach a cluster. */
  run(args: readonly string[], kubeconfig?: string): Promise<CommandResult>;
  /** What the chart gives for values, without hooks; rendered once. @throws Error with what helm says */
  render(values?: object, options?: readonly string[]): Promise<Manifest[]>;
  /** What helm says to values that it refuses. @throws Error when it takes them */
  refusal(values: object, options?: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

/** Helm itself; charts are rendered into svc-system. @throws ToolUnavailable where it cannot be built */
export async function helm(): Promise<Helm> {
  const { bins } = await requireTool('helm');
  const program = bins.helm as string;
  const folder = temporaryFolder('helm');
  const run: Helm['run'] = (args, kubeconfig = '/dev/null') =>
    runCommand(program, args, folder.path, { env: { HOME: folder.path, KUBECONFIG: kubeconfig } });
  const rendered = new Map<string, Promise<CommandResult>>();
  const template = (values: object, options: readonly string[]) =>
    run(['template', 'svc', CHART, '--namespace=svc-system', ...valueArgs(values), ...options]);
  return {
    program,
    run,
    async render(values = {}, options = []) {
      const key = JSON.stringify([values, options]);
      const result = rendered.get(key) ?? template(values, ['--no-hooks', ...options]);
      rendered.set(key, result);
      const { status, stdout, stderr } = await result;
      if (status !== 0) throw new Error(stderr);
      return parseManifests(stdout);
    },
    async refusal(values, options = []) {
      const { status, stderr } = await template(values, options);
      if (status === 0) throw new Error(`helm took ${JSON.stringify(values)}`);
      return stderr;
    },
    remove: folder.remove,
  };
}

/** Arguments that give values of any depth: `{ operator: { ha: true } }`. */
export function valueArgs(values: object): string[] {
  return Object.entries(values).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`);
}

/** @throws Error for text that is no YAML */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const value = document.toJS();
    return value === null ? [] : [value];
  });
}

/** The one of this kind and name. @throws Error where there is none, or more */
export function manifest(all: readonly Manifest[], kind: string, name: string): Manifest {
  const [found, ...more] = all.filter((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined || more.length > 0) throw new Error(`${more.length + 1} ${kind} ${name}`);
  return found;
}
