/** What a test process tells the runner over its IPC channel, in the order in which it happens. */
export type TestEvent =
  | { type: 'loaded'; timeout?: number }
  /** A tool is being built: until it is `built`, the file's time does not run. */
  | { type: 'building' }
  | { type: 'built' }
  | { type: 'start'; name: string }
  | { type: 'pass'; name: string }
  | { type: 'fail'; name: string; error: string }
  | { type: 'skip'; name: string; reason: string; count: number }
  | { type: 'done'; cpuMilliseconds?: number }
  | { type: 'handles'; active: string[] };

export type Emit = (event: TestEvent) => void;

export interface Failure {
  name: string;
  error: string;
}

export interface Skip {
  name: string;
  reason: string;
  count: number;
}

/** The outcome of one test file; `output` is the tail of what its process wrote. */
export interface FileResult {
  file: string;
  passed: number;
  failures: Failure[];
  skips: Skip[];
  milliseconds: number;
  /** Of the process and of all that it has seen end; undefined where the system does not tell. */
  cpuMilliseconds?: number;
  output: string;
}
