import type { NodeReports } from '../contract.ts';
import type { ControllerDeps, Indexes } from '../controllers/deps.ts';

export interface ScoreDeps extends Omit<ControllerDeps, 'events'> {
  readonly nodes: NodeReports & {
    /** Called with the name of a node of which another thing is known. */
    onChange(handle: (node: string) => void): void;
  };
  readonly egress: {
    /** Whether the namespace's policy is applied; undefined: not known. */
    egressPolicyOf(namespace: string): boolean | undefined;
    /** Names of policies of others that let its protected pods reach more. */
    wideningPoliciesOf(namespace: string): readonly string[];
  };
  readonly indexes: Pick<Indexes, 'pods' | 'serviceConfigs'>;
  /** In milliseconds; what is left out is as usual. */
  readonly timing?: Partial<ScoreTiming>;
}

export interface ScoreTiming {
  /** How long changes of a namespace are gathered. */
  readonly settle: number;
  /** How long changes of nodes are gathered. */
  readonly nodes: number;
  /** Between two rounds over all namespaces, which cost no call where nothing has changed. */
  readonly resync: number;
  /** How long a new leader waits for the agents to tell it, before it writes down what it does not know. */
  readonly agents: number;
  /** For how long a report that was written is taken to be there still. */
  readonly trust: number;
}

export const usualTiming: ScoreTiming = {
  settle: 2_000,
  nodes: 2_000,
  resync: 60_000,
  agents: 45_000,
  trust: 15 * 60_000,
};
