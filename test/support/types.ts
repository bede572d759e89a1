import type { IncomingHttpHeaders } from 'node:http';
import type { S3Client } from '@aws-sdk/client-s3';

/** Anything that a test started and must end. `stop` may be called more than once. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** A server in a child process. */
export interface ChildServer extends Stoppable {
  readonly pid: number;
  readonly port: number;
  /** Base address, without a slash at the end. */
  readonly url: string;
  /** The last part of what it wrote to both outputs, for diagnostics. */
  logs(): string;
}

export interface HttpResult {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as text. */
  readonly text: string;
  /** The body parsed as JSON, or undefined where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of servers under test are picked apart freely
  readonly json: any;
}

export interface OpenBaoOptions {
  /** Serve HTTPS with a certificate of a CA of its own (`caFile`). */
  readonly tls?: boolean;
}

export interface PolicyTokenOptions {
  /** Transit mount, default `transit`. */
  readonly mount?: string;
  /** Transit key, default `svc`. */
  readonly key?: string;
  /** Time to live, in OpenBao's notation, default `1h`. */
  readonly ttl?: string;
}

export interface KubernetesAuthOptions {
  /** Role to log in with, default `svc-proxy`. */
  readonly role?: string;
  /** Time to live of the tokens that a login yields, default `1h`. */
  readonly ttl?: string;
  /** Policies of these tokens; default: the transit policy of `policyToken`. */
  readonly policies?: readonly string[];
  /** Mount path without `auth/`, default `kubernetes`. */
  readonly mount?: string;
}

/** A service account whose JWT OpenBao checks through a TokenReview server. */
export interface KubernetesAuth extends Stoppable {
  readonly role: string;
  /** For `VAULT_AUTH_MOUNT_PATH`. */
  readonly mountPath: string;
  /** The file that a pod would have mounted; holds a valid JWT from the start. */
  readonly jwtPath: string;
  /** Writes a fresh JWT to `jwtPath` and returns it. */
  issue(): string;
  /** From now on the TokenReview server refuses this JWT; default: the one in `jwtPath`. */
  revokeJwt(jwt?: string): void;
  /** TokenReviews answered so far. */
  reviews(): number;
}

export interface OpenBao extends ChildServer {
  readonly rootToken: string;
  /** PEM file to trust; only with `tls`. */
  readonly caFile: string | undefined;
  /** `path` without `/v1/`. Default token: root; null sends none. Never throws on an HTTP status. */
  request(method: string, path: string, body?: unknown, token?: string | null): Promise<HttpResult>;
  enableTransit(mount?: string, key?: string): Promise<void>;
  /** Writes the policy (only `update` on encrypt and decrypt of one key) and returns its name. */
  transitPolicy(options?: PolicyTokenOptions): Promise<string>;
  /** A token with that policy alone: no default policy, so no renew-self and no lookup-self. */
  policyToken(options?: PolicyTokenOptions): Promise<string>;
  rotate(mount?: string, key?: string): Promise<void>;
  seal(): Promise<void>;
  unseal(): Promise<void>;
  revoke(token: string): Promise<void>;
  enableKubernetesAuth(options?: KubernetesAuthOptions): Promise<KubernetesAuth>;
}

export interface StoreOptions {
  /** versitygw only: keep a folder for object versions (needed for versioning and object lock). */
  readonly versioning?: boolean;
  /** Serve HTTPS with a certificate of a CA of its own (`caFile`). */
  readonly tls?: boolean;
  /** versitygw only: keep connections open between requests, which it does not do by itself. */
  readonly keepAlive?: boolean;
}

export interface BucketOptions {
  readonly versioning?: boolean;
  readonly objectLock?: boolean;
}

/** Where an S3 client goes and with what. */
export interface S3Target {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** PEM file to trust where `endpoint` is HTTPS with a private CA. */
  readonly caFile?: string | undefined;
}

export interface ObjectStore extends ChildServer, S3Target {
  readonly kind: 'versitygw' | 'minio';
  /** Folder with the stored files; in versitygw an object is the file `<bucket>/<key>`. */
  readonly dataDir: string;
  /** SDK client that goes straight to the store, path style. */
  readonly client: S3Client;
  createBucket(name: string, options?: BucketOptions): Promise<void>;
  /** Ends the process and keeps the data; `resume` starts it again on the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export type CutDirection = 'to-server' | 'to-client';
export type CutManner = 'fin' | 'reset';

export interface CutOptions {
  /** How many connections are cut before it heals by itself; default: all, until `heal`. */
  readonly count?: number;
}

export interface AnswerOptions {
  /** How many requests; default: all, until `heal`. */
  readonly count?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only requests whose method and path (`PUT /bucket/key?x`) match; default: all. */
  readonly when?: RegExp;
}

export interface FaultProxyStats {
  /** Connections accepted since the start. */
  readonly connections: number;
  /** Connections open now (a side that has closed counts half). */
  readonly open: number;
  readonly bytesToServer: number;
  readonly bytesToClient: number;
  /** Canned answers given. */
  readonly answered: number;
}

/** A TCP relay on loopback whose behaviour a test changes while it runs. */
export interface FaultProxy extends Stoppable {
  readonly port: number;
  /** The target's scheme with this relay's address. */
  readonly url: string;
  /** Closes the listener and resets what is open: connecting fails with ECONNREFUSED. */
  refuse(): Promise<void>;
  /** Accepts, and passes nothing on, in either direction, on open connections too. */
  hang(): void;
  /** Passes each message (what one side sends until the other side speaks) on `ms` later. */
  delay(ms: number): void;
  /** Each connection, open ones too, is cut after `bytes` more in that direction: exactly `bytes` are passed. */
  cutAfter(bytes: number, direction: CutDirection, manner: CutManner, options?: CutOptions): void;
  /** Plain HTTP only: requests get this answer and never reach the target. */
  answer(status: number, body?: string, options?: AnswerOptions): void;
  /** Back to passing everything on; stalled bytes flow again. */
  heal(): Promise<void>;
  readonly stats: FaultProxyStats;
}

export interface LoggedRequest {
  /** When it came, in ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string | string[] | undefined>>;
  /** 0 where no answer came. */
  status: number;
  /** Body bytes, chunked framing of HTTP itself not counted (that of aws-chunked is). */
  requestBytes: number;
  responseBytes: number;
  /** True once the answer has been passed on completely. */
  done: boolean;
}

/** An HTTP relay that writes down what passes. Signatures hold: the Host header is passed on as it is. */
export interface RequestLog extends Stoppable {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly LoggedRequest[];
  clear(): void;
  /** Requests whose method and path match. */
  matching(method: string, path: RegExp): LoggedRequest[];
  /** Body bytes that the store sent. */
  fetchedBytes(): number;
}

export interface CommandResult {
  /** Exit status; null when ended by a signal (the time bound sends SIGKILL). */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ClientRunOptions {
  /** Added to the cleaned environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string | Uint8Array;
  /** Time bound in ms, default 120 000. */
  readonly timeoutMs?: number;
}

/** External S3 clients, preset with endpoint, credentials and a temporary configuration. */
export interface Clients extends Stoppable {
  /** Scratch folder and working directory of every client. */
  readonly dir: string;
  /** Debian's AWS CLI, version 2. `--endpoint-url` is preset by the environment and an argument. */
  aws(args: readonly string[], options?: ClientRunOptions): Promise<CommandResult>;
  /** A current AWS CLI, version 1 (new checksum defaults). */
  awsV1(args: readonly string[], options?: ClientRunOptions): Promise<CommandResult>;
  s3cmd(args: readonly string[], options?: ClientRunOptions): Promise<CommandResult>;
  /** The remote is called `svc:`. */
  rclone(args: readonly string[], options?: ClientRunOptions): Promise<CommandResult>;
  /** The program of `test/tools/minio-go-client`. */
  minioGo(args: readonly string[], options?: ClientRunOptions): Promise<CommandResult>;
  /** Runs Python with `s3` (a client), `boto3`, `Config`, `json`, `sys`, `io` and `hashlib` at hand. */
  boto3(script: string, options?: ClientRunOptions): Promise<CommandResult>;
}

export interface SvcVault {
  readonly addr: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly kubernetes?: Pick<KubernetesAuth, 'role' | 'mountPath' | 'jwtPath'>;
  readonly caFile?: string | undefined;
}

export interface SvcProxyConfig {
  /** Where the store is, and the proxy's own credentials for it. */
  readonly upstream: S3Target;
  readonly vault: SvcVault;
  /** Arguments after `run proxy`. */
  readonly args?: readonly string[];
  /** Added to, or with undefined taken from, the environment that the above amounts to. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Commands that become the proxy, as a cgroup's. */
  readonly under?: readonly string[];
  /** What to run; default: SVC_TEST_ENTRY, else `bin/run.js` of the work tree. */
  readonly entry?: string;
  /** Wait until `/readyz` answers 200; default true. Otherwise only until it listens. */
  readonly waitReady?: boolean;
}

export interface SvcProxy extends Stoppable {
  readonly pid: number;
  /** `http://127.0.0.1:PORT` of the S3 side. */
  readonly url: string;
  /** `http://127.0.0.1:PORT` of `/healthz`, `/readyz`, `/metrics`. */
  readonly health: string;
  /** The proxy as a client's target; the credentials are made up unless callers are authenticated. */
  readonly target: S3Target;
  /** Everything that every run of it wrote to both outputs. */
  output(): string;
  /** Resident memory in bytes, of the process and its children: now, and the highest so far (Linux). */
  rss(): { readonly now: number; readonly peak: number };
  /** Sends the signal and waits for the exit. */
  kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Starts it again after `kill`, or kills it (SIGTERM) first; the addresses may change. */
  restart(): Promise<void>;
}
