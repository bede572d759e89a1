import { fileURLToPath } from 'node:url';
import { type Child, type Exit, launchReady } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { type LogLine, logLines } from './log-lines.ts';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable } from './types.ts';

/** Elsewhere for a run against another tree, such as that of the image. */
const ENTRY = process.env['SVC_TEST_ENTRY'] ?? fileURLToPath(new URL('../../bin/run.js', import.meta.url));

export interface ComponentPlan {
  /** As `svc run` knows it. */
  readonly name: string;
  /** Its variables, given a folder of its own, which is its working directory and home. */
  readonly env: (folder: string) => Readonly<Record<string, string | undefined>>;
  /** After `svc run <name>`. */
  readonly args?: readonly string[];
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Default: SVC_TEST_ENTRY, else `bin/run.js` of the work tree. */
  readonly entry?: string;
  /** Whether it is ready, once it listens; default: it is then. What this throws counts as not yet. */
  readonly ready?: (started: LogLine) => Promise<boolean>;
}

/** `svc run <name>` as a process, as it is shipped. */
export interface Component extends Stoppable {
  readonly pid: number;
  /** Fields of the line with which it says that it listens. */
  readonly started: LogLine;
  /** Everything that every run of it wrote to both outputs. */
  output(): string;
  /** Lines of its log with this event, oldest first. */
  events(event: string): LogLine[];
  /** Sends the signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** Starts it again after `kill`, or ends it (SIGTERM) first; its addresses may change. */
  restart(): Promise<void>;
}

/**
 * Starts a component and waits until it listens, and is ready where the plan says when.
 * @throws Error with what it printed when it ends first, or is not ready in time
 */
export async function startComponent(plan: ComponentPlan): Promise<Component> {
  const folder = temporaryFolder(plan.name);
  let earlier = '';
  const start = () => launchComponent(plan, folder.path);
  let { child, started } = await start().catch(async (error) => {
    await folder.remove();
    throw error;
  });
  const output = () => earlier + child.logs();
  return {
    get pid() {
      return child.pid;
    },
    get started() {
      return started;
    },
    output,
    events: (event) => logLines(output(), event),
    kill: (signal) => child.end(signal),
    async restart() {
      if (!child.ended) await child.end();
      earlier = output();
      ({ child, started } = await start());
    },
    async stop() {
      await child.stop();
      await folder.remove();
    },
  };
}

async function launchComponent(
  plan: ComponentPlan,
  folder: string,
): Promise<{ child: Child; started: LogLine }> {
  const { name, args = [], under = [], nodeArgs = [], entry = ENTRY, ready } = plan;
  const command = [...under, process.execPath, ...process.execArgv, ...nodeArgs, entry, 'run', name, ...args];
  const env = cleanEnv({ HOME: folder, ...plan.env(folder) });
  const what = `svc run ${name} to be ready`;
  const { child, found } = await launchReady(what, command, { env, cwd: folder }, async (child) => {
    const started = startUpLine(child.logs());
    return started !== undefined && (ready === undefined || (await ready(started))) && started;
  });
  return { child, started: found };
}

/** Workers say where they listen too; the process that was started also says where its health is. */
export function startUpLine(output: string): LogLine | undefined {
  return logLines(output, 'listening').find(({ health }) => health !== undefined);
}
