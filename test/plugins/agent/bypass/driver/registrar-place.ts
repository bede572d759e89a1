import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';
import type { Exit } from '../../../../support/child.ts';
import type { Place } from './place.ts';
import { Queue } from './queue.ts';
import type { Refused, RegistrarCommand, RegistrarLine } from './registrar-lines.ts';

/** A registrar with its children; `pid` is its own. */
export interface RegistrarPlace extends Place {
  readonly pid: number;
}

interface Child {
  readonly pid: PromiseWithResolvers<number>;
  readonly values: Queue<unknown>;
  readonly exited: PromiseWithResolvers<Exit>;
}

/** @param program the registrar, as Node runs it */
export async function startRegistrar(program: string, socketPath: string): Promise<RegistrarPlace> {
  const registrar = await startLineProcess(process.execPath, [...process.execArgv, program, socketPath]);
  await registrar.next<{ ready: true }>();
  const children: Child[] = [];
  const answers = new Queue<Refused | 'registered'>();
  const tell = (command: RegistrarCommand) => registrar.send(JSON.stringify(command));
  void listen(registrar, children, answers);
  return {
    pid: registrar.pid,
    async start(program, args, env = {}) {
      const child = newChild();
      const id = children.push(child) - 1;
      tell({ do: 'start', id, program, args, env });
      return remote(id, await child.pid.promise, child, args, tell);
    },
    async protect() {
      tell({ do: 'register' });
      const answer = await answers.next();
      if (answer === undefined) throw new Error('The registrar ended instead of registering');
      return answer === 'registered' ? undefined : answer;
    },
    async end() {
      registrar.close();
      await registrar.exited;
    },
  };
}

function newChild(): Child {
  return { pid: Promise.withResolvers(), values: new Queue(), exited: Promise.withResolvers() };
}

async function listen(registrar: LineProcess, children: Child[], answers: Queue<Refused | 'registered'>) {
  for (;;) {
    const line = await registrar.nextOrEnd<RegistrarLine>();
    if (line === undefined) break;
    if ('registered' in line) answers.push('registered');
    else if ('refused' in line) answers.push(line.refused);
    else if ('id' in line) hear(children[line.id] as Child, line);
  }
  answers.end();
  for (const { values } of children) values.end();
}

function hear(child: Child, line: Extract<RegistrarLine, { id: number }>): void {
  if ('pid' in line) child.pid.resolve(line.pid);
  else if ('value' in line) child.values.push(line.value);
  else {
    child.values.end();
    child.exited.resolve(line.ended);
  }
}

function remote(
  id: number,
  pid: number,
  { values, exited }: Child,
  args: readonly string[],
  tell: (command: RegistrarCommand) => void,
): LineProcess {
  const nextOrEnd = async <T>() => (await values.next()) as T | undefined;
  return {
    pid,
    nextOrEnd,
    async next<T>() {
      const value = await nextOrEnd<T>();
      if (value === undefined) throw new Error(`${args.join(' ')} ended early below a registrar`);
      return value;
    },
    send: (line) => tell({ do: 'send', id, line }),
    close: () => tell({ do: 'close', id }),
    exited: exited.promise,
    kill() {
      tell({ do: 'kill', id });
      return exited.promise;
    },
  };
}
