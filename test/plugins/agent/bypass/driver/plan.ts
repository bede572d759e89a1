/** How an agent is to behave. */
export interface AgentMode {
  /** Default: the agent's own. */
  readonly tiers?: readonly (1 | 2 | 3)[];
  readonly enforce: boolean;
  readonly kill: boolean;
}

export interface Phase {
  readonly name: string;
  /** None: no agent. */
  readonly mode?: AgentMode;
  /** How victims come under protection; `cgroup` as those of labelled pods, without registration. */
  readonly by?: 'registration' | 'cgroup';
}

/** Where things are on the machine that the driver runs on. */
export interface Machine {
  /** The program of test/tools/bypass. */
  readonly bypass: string;
  readonly registrar: string;
  /** bin/run.js of the built package. */
  readonly svc: string;
  /** On a BPF file system. */
  readonly bpf: string;
  /** The machine is the driver's alone: core_pattern may be changed, and nobody else guards it. */
  readonly own: boolean;
}

export interface Plan {
  readonly machine: Machine;
  readonly phases: readonly Phase[];
}
