import type { FailOn } from '../../core/checks/contract.ts';
import type { Screen } from '../../runtime/cli/terminal.ts';

export type Env = Readonly<Record<string, string | undefined>>;
export type Format = 'table' | 'json' | 'sarif';

export interface Output extends Screen {
  readonly rows?: number;
  /** @param written called when it is, or with why it cannot be */
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

/** What `svc audit` was called with, as its flags are named. */
export interface AuditFlags {
  readonly output: Format;
  readonly json: boolean;
  readonly 'fail-on': FailOn;
  readonly 'min-score'?: string | undefined;
  readonly scope: 'all' | 'asking';
  readonly namespace?: readonly string[] | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly below?: string | undefined;
  readonly watch: boolean;
  readonly 'operator-namespace': string;
  readonly bucket?: string | undefined;
  readonly prefix?: string | undefined;
  readonly sample?: string | undefined;
  readonly list?: string | undefined;
  readonly concurrency?: string | undefined;
  readonly resume?: string | undefined;
  readonly config?: string | undefined;
}

export interface AuditCall {
  readonly flags: AuditFlags;
  readonly env: Env;
  readonly stdout: Output;
  /** Progress goes there. */
  readonly stderr: Output;
  /** Of svc. */
  readonly version: string;
}

/** What is done with what was found. */
export interface Terms {
  readonly format: Format;
  readonly failOn: FailOn;
}
