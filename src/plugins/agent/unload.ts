import { type RunOptions, readConfig } from '../../runtime/component/read-config.ts';
import { markUnloaded, unpinAll } from './guard/program-set.ts';
import { agent } from './index.ts';

/**
 * Removes the agent's programs and tables from this node, which ends its protection. A running agent keeps its programs
 * attached until it ends.
 * @returns what was done, as a sentence
 * @throws SvcError CONFIG_INVALID
 */
export async function unloadAgent(options: RunOptions): Promise<string> {
  const { own } = await readConfig(agent, options);
  markUnloaded(own.bpfFolder);
  const pins = unpinAll(own.bpfFolder);
  return pins === 0
    ? `Nothing is pinned at ${own.bpfFolder}.`
    : `Unpinned ${pins} programs and tables at ${own.bpfFolder}; nothing is guarded any more.`;
}
