import { type Child, launch } from './child.ts';
import { freePort } from './ports.ts';
import type { ChildServer } from './types.ts';
import { waitFor } from './wait-for.ts';

const ATTEMPTS = 3;

export interface ServerPlan {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: (port: number) => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly scheme: 'http' | 'https';
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
    async stop() {
      if (!child.ended) await child.end('SIGKILL');
    },
  };
}

async function run(plan: ServerPlan, port: number): Promise<Child> {
  const child = await launch(plan.command, plan.args(port), { env: plan.env, cwd: plan.cwd });
  try {
    const exit = child.exited.then(() => {
      throw new Error(`${plan.name} ended while starting\n${child.logs()}`);
    });
    const ready = waitFor(plan.name, () => child.ended || plan.ready(address(plan, port)), {
      details: child.logs,
    });
    await Promise.race([exit, ready.then(() => (child.ended ? exit : undefined))]);
    exit.catch(() => undefined);
    return child;
  } catch (error) {
    if (!child.ended) await child.end('SIGKILL');
    throw error;
  }
}

function address(plan: ServerPlan, port: number): string {
  return `${plan.scheme}://127.0.0.1:${port}`;
}
