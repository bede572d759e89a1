/** One round of requests that a load process sends. */
export interface Job {
  /** `http://host:port` */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly method: 'PUT' | 'GET';
  /** Requests in all, spread over so many objects `<prefix><n>`. */
  readonly requests: number;
  readonly objects: number;
  readonly prefix: string;
  /** Bytes of a body. */
  readonly size: number;
  readonly clients: number;
  readonly query?: string;
  readonly range?: string;
}

export interface JobResult {
  readonly seconds: number;
  readonly bytes: number;
}
