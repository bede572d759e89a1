/** What the program of test/tools/bypass says, and what its caller chooses. */

export type AccessPathNeed =
  | 'two-phase'
  | 'child'
  | 'leader-gone'
  | 'setproctitle'
  | 'core-limit'
  | 'allow-core-pattern'
  | 'own-victim'
  | 'tool'
  | 'ends-victim';

export interface AccessPathEntry {
  readonly path: string;
  readonly title: string;
  readonly needs: readonly AccessPathNeed[];
  readonly kind: 'environ' | 'memory' | 'descriptor' | 'stack' | 'kernel' | 'child' | 'interpreter';
}

export interface VictimFacts {
  readonly pid: number;
  /** A second thread that lives as long as the process. */
  readonly tid2: number;
  readonly marker: string;
  readonly address: number;
  readonly length: number;
  readonly descriptor: number;
  readonly child?: number;
  readonly childAddress?: number;
  /** A program that it starts over and over, by its path there. */
  readonly tool?: string;
  /** That the tool's file system lies over. */
  readonly folder?: string;
}

export interface VictimOptions {
  /** Default: a new one. */
  readonly marker?: string;
  /** A child by exec, from the start. */
  readonly child?: boolean;
  readonly setproctitle?: boolean;
  /** Soft limit of core dumps, in bytes. */
  readonly coreLimit?: number;
  /** It starts a program over and over, with mounts of its own over folders that it makes in this empty one. */
  readonly toolFolder?: string;
}

/** `killed`: a signal ended the attacker before it could say anything. */
export type AccessPathOutcome = 'leaked' | 'denied' | 'failed' | 'unavailable' | 'killed';

export interface AccessPathResult {
  readonly path: string;
  readonly outcome: AccessPathOutcome;
  /** Name such as EPERM. */
  readonly errno?: string;
  readonly detail: string;
}

export interface AttemptOptions {
  /** Lets an attack path change the machine's core_pattern for a moment. */
  readonly allowCorePattern?: boolean;
}

export interface HammerOptions {
  readonly pid: number;
  readonly marker: string;
  readonly path?: 'environ' | 'mem';
  /** For mem. */
  readonly address?: number;
  /** Attempts a second; default: as many as it can. */
  readonly hertz?: number;
  /** A process of its own for each attempt. */
  readonly spawn?: boolean;
  /** Ends by itself after so many. */
  readonly count?: number;
}

export interface HammerResult {
  readonly attempts: number;
  readonly leaked: number;
  readonly denied: number;
  readonly failed: number;
  readonly killed: number;
  /** Between the starts of two attempts. */
  readonly longestGapMicros: number;
}

export interface WatchResult extends Omit<HammerResult, 'longestGapMicros'> {
  readonly children: number;
}

export interface OrdinaryRead {
  readonly name: string;
  readonly ok: boolean;
  /** This kernel has no such file. */
  readonly absent?: boolean;
  readonly error?: string;
}

export interface EventsResult {
  readonly attempts: number;
  readonly opened: number;
  readonly denied: number;
  readonly failed: number;
  readonly milliseconds: number;
}

/** Nanoseconds per operation. */
export interface CostFigure {
  readonly median: number;
  readonly least: number;
}

export interface CostResult {
  readonly openClose: CostFigure;
  readonly openCloseProc: CostFigure;
  /** Of another process's `status`. */
  readonly openCloseStatus: CostFigure;
  readonly readByte: CostFigure;
  readonly readPage: CostFigure;
  readonly readProc: CostFigure;
  /** A system call that does nothing. */
  readonly call: CostFigure;
  /** A page mapped, written to and unmapped. */
  readonly mapPage: CostFigure;
  readonly forkExec: CostFigure;
}
