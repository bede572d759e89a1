/** What the driver prints, a line of JSON each. */

/** A hit as the agent tells it. */
export interface AccessEventLine {
  readonly road: string;
  readonly outcome: string;
  readonly syscall: string;
  readonly sourcePid: number;
  readonly sourceComm: string;
  /** None where the attack path leads to all memory of the machine. */
  readonly targetPid?: number;
}

export interface AttemptRecord {
  readonly kind: 'attempt';
  readonly phase: string;
  readonly path: string;
  /** As the attacker tells it; `killed` where it could not; `refused` where the agent did not register the victim. */
  readonly outcome: 'leaked' | 'denied' | 'failed' | 'unavailable' | 'killed' | 'refused';
  readonly errno?: string;
  readonly detail: string;
  /** Another agent of this machine killed the attacker, whatever the one under test did. */
  readonly disturbed?: true;
  readonly attacker: number;
  /** The victim, and its child. */
  readonly targets: readonly number[];
  readonly hits: readonly AccessEventLine[];
}

export interface PhaseRecord {
  readonly kind: 'phase';
  readonly phase: string;
  readonly tier: number;
  readonly enforcing: boolean;
  /** Hits by `road outcome`: as the log has them, and as the metrics do. */
  readonly logged: Readonly<Record<string, number>>;
  readonly counted: Readonly<Record<string, number>>;
  /** Hits that the log had no room for. */
  readonly held: number;
  readonly milliseconds: number;
}

/** The last line: everything was carried out. */
export interface EndRecord {
  readonly kind: 'end';
  readonly phases: number;
}

export type DriverRecord = AttemptRecord | PhaseRecord | EndRecord;
