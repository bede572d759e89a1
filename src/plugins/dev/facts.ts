/** Where everything is, for people and scripts. URLs without a slash at the end. */
export interface Facts {
  readonly proxy: string;
  readonly health: string;
  readonly keyServer: string;
  readonly store: string;
  /** Stored bytes as they are, without signing: `/<bucket>/<key>` follows. */
  readonly peek: string;
  /** Absolute; undefined: memory. */
  readonly dataFolder: string | undefined;
  /** What a client is set to. */
  readonly client: {
    readonly region: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
}
