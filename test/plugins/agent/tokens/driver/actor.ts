/** `actor.ts`: does what it is told by lines of JSON, and answers each with one. */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { registerWithAgent } from '../../../../../src/plugins/wrapper/agent/register.ts';
import { registration } from '../../registration/support/messages.ts';

export type ActorCommand =
  | { readonly do: 'read'; readonly path: string }
  /** By a child. */
  | { readonly do: 'cat'; readonly path: string }
  /** By a child that is given the open file, as svc-init gives it to its workers. */
  | { readonly do: 'hand'; readonly path: string }
  | { readonly do: 'register'; readonly socketPath: string; readonly podUid: string }
  /** Executes this program in its place, which answers from then on. */
  | { readonly do: 'become'; readonly path: string }
  | { readonly do: 'listen'; readonly port: number };

async function obey(command: ActorCommand): Promise<string> {
  if (command.do === 'read') return attempt(() => readFileSync(command.path, 'utf8'));
  if (command.do === 'cat') {
    const { stdout, stderr } = spawnSync('/bin/busybox', ['cat', command.path], { encoding: 'utf8' });
    return stdout || stderr.trim().replace(/.*: /, '');
  }
  if (command.do === 'hand') {
    const file = openSync(command.path, 'r');
    const { stdout } = spawnSync('/bin/busybox', ['cat'], {
      stdio: [file, 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    closeSync(file);
    return stdout;
  }
  if (command.do === 'become') process.execve?.(command.path, become());
  if (command.do === 'register') {
    const { socketPath, podUid } = command;
    await registerWithAgent({ ...registration, podUid }, { socketPath, timeoutMs: 60_000 });
    return 'registered';
  }
  if (command.do !== 'listen') throw new Error('this was to be somebody else by now');
  await new Promise<void>((resolve) => createServer().listen(command.port, '127.0.0.1', resolve));
  return 'listening';
}

function become(): string[] {
  const [program = '', ...args] = process.argv;
  return [program, ...process.execArgv, ...args];
}

function attempt(act: () => string): string {
  try {
    return act();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const answer = await obey(JSON.parse(line) as ActorCommand).catch((error: Error) => error.message);
    process.stdout.write(`${JSON.stringify({ answer })}\n`);
  })
  .on('close', () => process.exit());
