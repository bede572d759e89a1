import { type Child, launchReady } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { freePort } from './ports.ts';
import type { ChildServer } from './types.ts';

const ATTEMPTS = 3;

export interface ServerPlan {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: (port: number) => readonly string[];
  /** Its working directory and home. */
  readonly folder: string;
  /** Beside `HOME`. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: http. */
  readonly scheme?: 'http' | 'https';
  /** Whether it is ready; what this throws counts as not yet. */
  readonly ready: (url: string) => Promise<boolean>;
}

/** A server process that can end and come back on its port. */
export interface Server extends ChildServer {
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/**
 * Starts a server on a free port and waits until it is ready. Somebody else may take the port in between:
 * then it is tried again on another one.
 * @throws Error with the server's logs
 */
export async function startServer(plan: ServerPlan): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return handle(plan, port, await run(plan, port));
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

function handle(plan: ServerPlan, port: number, first: Child): Server {
  let child = first;
  return {
    port,
    url: address(plan, port),
    get pid() {
      return child.pid;
    },
    logs: () => child.logs(),
    async pause() {
      await child.end();
    },
    async resume() {
      child = await run(plan, port);
    },
    stop: () => child.stop(),
  };
}

async function run(plan: ServerPlan, port: number): Promise<Child> {
  const { name, command, args, folder, ready } = plan;
  const { child } = await launchReady(
    name,
    [command, ...args(port)],
    { env: cleanEnv({ HOME: folder, ...plan.env }), cwd: folder },
    // whoever took the port in between answers as well
    async (child) => (await ready(address(plan, port))) && !child.ended,
  );
  return child;
}

function address({ scheme = 'http' }: ServerPlan, port: number): string {
  return `${scheme}://127.0.0.1:${port}`;
}
