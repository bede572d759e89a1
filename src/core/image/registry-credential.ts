/** A user of registries, from a pull secret. */
export interface RegistryCredential {
  /** Host with port and path that it is for, `*` standing for any part of the host: `*.example:5000/team`. */
  readonly key: string;
  readonly username: string;
  readonly password: string;
}
