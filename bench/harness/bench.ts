/** A measured table; cells are numbers in the column's unit, undefined where nothing could be measured. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Facts that the figures depend on, and what is not reached yet. */
  readonly notes?: readonly string[];
}

export interface Row {
  readonly name: string;
  readonly cells: readonly (number | string | undefined)[];
}

/** What a module bench/<name>.ts exports. */
export interface Bench {
  readonly name: string;
  readonly summary: string;
  /** `say` shows progress on standard error. */
  readonly run: (say: (progress: string) => void) => Promise<Table[]>;
}
