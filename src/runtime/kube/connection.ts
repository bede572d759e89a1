import type { Agent } from 'node:http';

/** Where an API server is, and what a request needs to be let in. */
export interface KubeConnection {
  /** With a path where the API has a prefix. */
  readonly server: URL;
  /** Where this is known from, for the log: `service account`, or a kubeconfig file. */
  readonly origin: string;
  /**
   * For the next request: credentials rotate.
   * @param refused those given last were answered with 401
   * @throws SvcError when they cannot be read
   */
  credentials(refused: boolean): Promise<KubeCredentials>;
  close(): void;
}

export interface KubeCredentials {
  /** Of the request, the authorization among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its connections, which carry the client certificate and the trusted authority. */
  readonly agent: Agent;
}
