/** Where things are on the machine that faults are tried on. */
export interface Machine {
  /** What starts the agent. */
  readonly agent: readonly string[];
  /** The program of test/tools/bypass. */
  readonly bypass: string;
  /** Registrars, as Node runs them. */
  readonly registrar: string;
  /** On a BPF file system. */
  readonly bpf: string;
}

/** How an agent is to behave; what is not said is left to its defaults. */
export interface AgentMode {
  readonly tiers?: readonly (1 | 2 | 3)[];
  readonly kill?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}
