/** A way to start an application with its secrets. */
export interface Starter {
  readonly name: string;
  /** The first process and its arguments, the application's command included. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** False where the application takes the place of the starter. */
  readonly stays: boolean;
}
