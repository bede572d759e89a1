export interface StoredObject {
  readonly body: Buffer;
  /** User metadata, names in lower case without `x-amz-meta-`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** In a bucket that keeps versions. */
  readonly version: string | undefined;
}

/** One S3 endpoint, the store itself or the proxy before it. What it refuses is thrown as the AWS SDK has it. */
export interface S3Endpoint {
  /** For messages. */
  readonly host: string;
  put(key: string, body: Buffer, signal: AbortSignal): Promise<void>;
  get(key: string, signal: AbortSignal): Promise<StoredObject>;
  /** @param version removes that one for good */
  remove(key: string, version: string | undefined, signal: AbortSignal): Promise<void>;
  /** Whether the bucket is there. */
  hasBucket(signal: AbortSignal): Promise<boolean>;
}

/** What is known of the bucket's settings; undefined where the store does not say. */
export interface BucketFacts {
  readonly versioning: 'Enabled' | 'Suspended' | 'off' | undefined;
  /** Whether policies and grants that open the bucket to everybody are blocked. */
  readonly blocksPublicAccess: boolean | undefined;
  /** Whether its policy makes it public. */
  readonly isPublic: boolean | undefined;
}

/** The bucket that `--bucket` names. */
export interface StoreAccess {
  readonly bucket: string;
  readonly address: URL;
  /** Straight to the store. */
  readonly direct: S3Endpoint;
  /** Through the proxy that `--proxy` names, or one in this process. @throws NotEvaluated where it does not start */
  proxied(): Promise<S3Endpoint>;
  facts(signal: AbortSignal): Promise<BucketFacts>;
}
