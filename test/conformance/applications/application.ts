import type { S3Target } from '../../support/types.ts';

/** Where one application runs: a bucket of its own, at the store or behind the proxy. */
export interface Place {
  readonly target: S3Target;
  readonly bucket: string;
  /** Scratch folder, home and working directory. */
  readonly folder: string;
}

/** A program that people use on S3, and what it has to do. It is the same at the store and through the proxy. */
export interface Application {
  /** What `--only` takes, and the name of its row in the data file. */
  readonly name: string;
  /** What the table calls it. */
  readonly title: string;
  /** Whether it speaks TLS only. */
  readonly tls?: boolean;
  /** Installs what it needs. @returns its version @throws ToolUnavailable */
  prepare(): Promise<string>;
  /** @throws Error where it fails, or where its result is not what it has to be */
  run(place: Place): Promise<void>;
}
