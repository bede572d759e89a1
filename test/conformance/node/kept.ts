import { registerHooks } from 'node:module';
import { createInterface } from 'node:readline';
import type { Report } from '../part.ts';
import type { NodeBed, NodeCheck } from './bed.ts';

export type RunChecks = (
  names: readonly string[],
  checks: Readonly<Record<string, NodeCheck>>,
) => Promise<void>;

/**
 * Runs checks on a node that stays up: their names, one line on standard input for those of a turn, until it ends. The
 * files of this folder are read anew for each turn.
 */
export async function runKept(bed: NodeBed, report: Report, run: RunChecks): Promise<void> {
  let turn = 0;
  const here = new URL('.', import.meta.url).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      return resolved.url.startsWith(here) ? { ...resolved, url: `${resolved.url}?${turn}` } : resolved;
    },
  });
  const say = () => report.say(`the node stays up; names of checks, please (KUBECONFIG=${bed.kubeconfig})`);
  say();
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      turn += 1;
      try {
        const { CHECKS } = await import('./checks.ts');
        await run(line.split(/[\s,]+/).filter(Boolean), CHECKS);
      } catch (error) {
        report.say(`${error}`);
      }
      say();
    }
  } finally {
    hooks.deregister();
  }
}
