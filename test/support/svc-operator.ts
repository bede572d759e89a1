import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { linesOf, startUpLine } from './start-up-line.ts';
import { temporaryFolder } from './temporary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One replica, as a process. */
export interface SvcOperator {
  readonly pid: number;
  /** Fields of its start-up line: `webhook`, `grpc`, `metrics`, `health`. */
  readonly started: Readonly<Record<string, string>>;
  output(): string;
  /** Lines of its log with this event, oldest first. */
  events(event: string): readonly Readonly<Record<string, unknown>>[];
  /** Sends the signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills it where it still runs. */
  stop(): Promise<void>;
}

export interface SvcOperatorOptions {
  readonly kubeconfig: string;
  /** Where it listens, always at free ports. */
  readonly host: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
}

/**
 * Starts `svc run operator` and waits for its start-up line.
 * @throws Error with what it printed when it ends first
 */
export async function startSvcOperator({
  kubeconfig,
  host,
  env = {},
  under = [],
}: SvcOperatorOptions): Promise<SvcOperator> {
  const folder = temporaryFolder('operator');
  let output = '';
  const free = `${host}:0`;
  const program = [process.execPath, join(ROOT, 'bin/run.js'), 'run', 'operator'];
  const [command = '', ...args] = [...under, ...program];
  const child = await launch(command, args, {
    env: cleanEnv({
      ...{ HOME: folder.path, KUBECONFIG: kubeconfig, SVC_LOG_FORMAT: 'json' },
      ...{ SVC_OPERATOR_WEBHOOK_ADDR: free, SVC_OPERATOR_GRPC_ADDR: free },
      ...{ SVC_OPERATOR_METRICS_ADDR: free, SVC_OPERATOR_HEALTH_ADDR: free },
      ...env,
    }),
    onOutput: (text) => {
      output += text;
    },
  });
  const stop = async () => {
    if (!child.ended) await child.end('SIGKILL');
    await folder.remove();
  };
  try {
    return {
      pid: child.pid,
      started: await startUpLine('svc run operator', child, () => output),
      output: () => output,
      events: (event) => linesOf(output).filter((line) => line['event'] === event),
      kill: (signal) => child.end(signal),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
