/** A measured table; cells are numbers in the column's unit, undefined where nothing could be measured. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Facts that the figures depend on, and what is not reached yet. */
  readonly notes?: readonly string[];
  /** How much else the machine did meanwhile, as a sentence. */
  readonly disturbance?: string;
}

export interface Row {
  readonly name: string;
  readonly cells: readonly (number | string | undefined)[];
}

/** What a module bench/<name>.ts exports. */
export interface Bench {
  readonly name: string;
  readonly summary: string;
  /** What `--only` chooses from; undefined where it is one piece. */
  readonly parts?: readonly string[];
  /** `say` shows progress on standard error; `parts` are those to run, in the order above. */
  readonly run: (say: (progress: string) => void, parts: readonly string[]) => Promise<Table[]>;
}
