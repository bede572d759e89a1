/** What can be seen of the machine, so that checks can be tested on machines that are not there. */
export interface Host {
  /** Such as `linux`. */
  readonly platform: string;
  /** Such as `6.1.0-18-amd64`. */
  readonly kernelRelease: string;
  /** Such as `v24.21.0`. */
  readonly nodeVersion: string;
  /** @returns undefined where the file is not there; throws where it may not be read */
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** Whether a program of that name stands in PATH. */
  hasProgram(name: string): boolean;
  /** Makes a region of secret memory and gives it back; says why it cannot. */
  trySecretMemory(): Promise<string | undefined>;
}
