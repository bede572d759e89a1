import { join } from 'node:path';
import { type Component, startComponent } from './component.ts';
import { http } from './http.ts';

/** A restart leaves it its socket and tables. */
export interface SvcAgent extends Component {
  /** Of the socket, as `SVC_EBPF_AGENT_ADDR` takes it. */
  readonly address: string;
  /** Such as `http://127.0.0.1:39090`. */
  readonly health: string;
}

export interface SvcAgentOptions {
  /** On a BPF file system of the test's own. */
  readonly bpfFolder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
  /** Default: `bin/run.js`. */
  readonly entry?: string;
}

/**
 * Starts `svc run agent` and waits for its start-up line.
 * @throws Error with what it printed when it ends first
 */
export async function startSvcAgent({ bpfFolder, env, ...options }: SvcAgentOptions): Promise<SvcAgent> {
  let socket = '';
  const agent = await startComponent({
    ...{ name: 'agent', ...options },
    env(folder) {
      socket = join(folder, 'agent.sock');
      return {
        SVC_AGENT_SOCKET: socket,
        SVC_AGENT_HEALTH: '127.0.0.1:0',
        SVC_AGENT_BPF_FOLDER: bpfFolder,
        ...env,
      };
    },
  });
  const own = {
    address: `unix://${socket}`,
    get health() {
      return `http://${agent.started['health']}`;
    },
  };
  return Object.defineProperties(own as SvcAgent, Object.getOwnPropertyDescriptors(agent));
}

/** The body of `/readyz` or `/healthz`, with its status. */
export async function probe(agent: SvcAgent, path: string): Promise<{ status: number; body: object }> {
  const { status, json } = await http(`${agent.health}${path}`);
  return { status, body: json as object };
}
