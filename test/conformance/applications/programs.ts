import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';
import type { ClientRunOptions } from '../../support/types.ts';
import { requireTool } from '../../testbed/ensure.ts';
import type { ToolName } from '../../testbed/types.ts';
import type { Application, Place } from './application.ts';

const longestRunMs = 300_000;

/** Runs a command in the place's folder. @returns its standard output @throws Error with its output where it fails */
export async function runIn(
  place: Place,
  command: string,
  args: readonly string[],
  options: ClientRunOptions = {},
): Promise<string> {
  const { status, stdout, stderr } = await runCommand(command, args, place.folder, {
    timeoutMs: longestRunMs,
    ...options,
    env: { ...environment(place), ...options.env },
  });
  if (status === 0) return stdout;
  throw new Error(
    `${command} ${args.join(' ')} ended with ${status}: ${`${stdout}\n${stderr}`.slice(-3000)}`,
  );
}

/** What the SDKs of all languages read. */
export function environment({ target, bucket, folder }: Place): Record<string, string> {
  return {
    HOME: folder,
    TMPDIR: folder,
    BUCKET: bucket,
    AWS_ENDPOINT_URL: target.endpoint,
    AWS_ACCESS_KEY_ID: target.accessKeyId,
    AWS_SECRET_ACCESS_KEY: target.secretAccessKey,
    AWS_REGION: target.region,
    AWS_DEFAULT_REGION: target.region,
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

export interface PythonApplication extends Pick<Application, 'name' | 'title'> {
  /** Whose version counts, as pip calls it. */
  readonly distribution: string;
  /** The file in `python/` that uses it and checks the result. */
  readonly program: string;
}

/** An application that is a library for Python. */
export function pythonApplication({ name, title, distribution, program }: PythonApplication): Application {
  const script = fileURLToPath(new URL(`./python/${program}`, import.meta.url));
  return {
    ...{ name, title },
    async prepare() {
      const { bins } = await requireTool('python-tools');
      const code = `import importlib.metadata as m; print(m.version('${distribution}'), end='')`;
      const { stdout } = await runCommand(bins['python'] as string, ['-c', code], '/');
      return stdout;
    },
    async run(place) {
      await runIn(place, await commandOf('python-tools', 'python'), ['-P', script]);
    },
  };
}

/** A command's path. @throws ToolUnavailable */
export async function commandOf(tool: ToolName, command: string = tool): Promise<string> {
  const { bins } = await requireTool(tool);
  return bins[command] as string;
}

/** The version of a tool that is had as it is asked for. @throws ToolUnavailable */
export const versionOf = async (tool: ToolName): Promise<string> => (await requireTool(tool)).version;
