/**
 * A wrapper as far as the agent sees one: `registrar.ts SOCKET` starts programs, and registers itself when it is told
 * so. Commands and answers are lines of JSON; what its children say is passed on under their number.
 */
import { createInterface } from 'node:readline';
import { GrpcError } from '../../../../../src/plugins/wrapper/agent/grpc-call.ts';
import { registerWithAgent } from '../../../../../src/plugins/wrapper/agent/register.ts';
import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import { registration } from '../../registration/support/messages.ts';
import type { Refused, RegistrarCommand, RegistrarLine } from './registrar-lines.ts';

const [socketPath = ''] = process.argv.slice(2);
const children = new Map<number, LineProcess>();

function say(line: RegistrarLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function start(id: number, program: string, args: readonly string[], env: Record<string, string>) {
  const child = await startLineProcess(program, args, env);
  children.set(id, child);
  say({ id, pid: child.pid });
  for (;;) {
    const value = await child.nextOrEnd<unknown>();
    if (value === undefined) break;
    say({ id, value });
  }
  say({ id, ended: await child.exited });
}

async function register(): Promise<void> {
  try {
    const { tier, enforcing } = await registerWithAgent(registration, { socketPath, timeoutMs: 180_000 });
    say({ registered: { tier, enforcing } });
  } catch (error) {
    say({ refused: refusedBy(error as Error) });
  }
}

function refusedBy({ message, cause }: Error): Refused {
  if (!(cause instanceof GrpcError)) return { status: 'none', message };
  return { status: cause.status, message: cause.message };
}

async function obey(command: RegistrarCommand): Promise<void> {
  if (command.do === 'start') return start(command.id, command.program, command.args, command.env);
  if (command.do === 'register') return register();
  const child = children.get(command.id);
  if (command.do === 'send') child?.send(command.line);
  else if (command.do === 'close') child?.close();
  else await child?.kill();
}

createInterface({ input: process.stdin })
  .on('line', (line) => void obey(JSON.parse(line) as RegistrarCommand))
  .on('close', () => process.exit());
say({ ready: true });
