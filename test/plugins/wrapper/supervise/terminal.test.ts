import { spawnSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { FixtureOptions } from './fixtures/wrapper.ts';
import { signalRecorder } from './support/programs.ts';
import { closeTerminals, keys, openTerminal, type Terminal } from './support/terminal.ts';
import { wrapperCommand } from './support/wrapper-process.ts';

export const slow = true;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');
const wrapped = (command: readonly string[], options: FixtureOptions = {}) =>
  quoted(wrapperCommand(options, command));
const openShell = () => openTerminal(['bash', '--norc', '-i']);

async function leave(shell: Terminal): Promise<number> {
  shell.type('exit 0\n');
  return shell.status;
}

/** The numbers of a recorder on a terminal: what it got until it is told to end. */
async function recorded(terminal: Terminal, pid: string): Promise<string[]> {
  process.kill(Number(pid), 34 as unknown as NodeJS.Signals);
  await terminal.expect('\n$ ').catch(() => undefined);
  return [...terminal.shown().matchAll(/(?<!")SIG[A-Z]+/g)].map(([name]) => name);
}

const terminals = suite('a terminal');
terminals.after.each(closeTerminals);

terminals('is the application’s: it reads and writes, and its exit status is passed on', async () => {
  const terminal = openTerminal(
    wrapperCommand({}, ['sh', '-c', 'test -t 0 && read line && echo "got $line"; exit 4']),
  );
  await terminal.expect('started');
  terminal.type('a line\n');
  await terminal.expect('got a line');
  assert.is(await terminal.status, 4);
});

terminals('keys reach the application once each, and the wrapper not', async () => {
  const terminal = openTerminal(wrapperCommand({}, signalRecorder));
  const pid = (await terminal.expect(/ready \d+/)).slice('ready '.length);
  for (const [key, name] of [
    [keys.interrupt, 'SIGINT'],
    [keys.quit, 'SIGQUIT'],
    [keys.suspend, 'SIGTSTP'],
  ] as const) {
    terminal.type(key);
    await terminal.expect(name);
  }
  spawnSync('stty', ['-F', readlinkSync(`/proc/${pid}/fd/0`), 'cols', '77']);
  await terminal.expect('SIGWINCH');
  process.kill(Number(pid), 34 as unknown as NodeJS.Signals);
  assert.is(await terminal.status, 5);
  const names = [...terminal.shown().matchAll(/SIG[A-Z]+/g)].map(([name]) => name);
  assert.equal(names, ['SIGINT', 'SIGQUIT', 'SIGTSTP', 'SIGWINCH']);
});

terminals('Ctrl-Z where nobody could continue it does not stop it', async () => {
  const terminal = openTerminal(wrapperCommand({}, ['sh', '-c', 'echo ready; exec cat']));
  await terminal.expect('ready');
  terminal.type(keys.suspend);
  terminal.type('still here\n');
  await terminal.expect('still here\r\nstill here');
  terminal.type(keys.end);
  assert.is(await terminal.status, 0);
});

terminals('of a shell: Ctrl-C ends the application, and the shell has its terminal back', async () => {
  const shell = openShell();
  shell.type(`${wrapped(['sh', '-c', 'echo ready; exec sleep 60'])}; echo "status $?."\n`);
  await shell.expect('\nready');
  shell.type(keys.interrupt);
  await shell.expect('status 130.');
  shell.type('read answer; echo "<$answer>"\nyes\n');
  await shell.expect('<yes>');
  assert.is(await leave(shell), 0);
});

terminals('of a shell: Ctrl-Z and fg', async () => {
  const shell = openShell();
  shell.type(`${wrapped(['sh', '-c', 'echo ready; exec cat'])}\n`);
  await shell.expect('\nready');
  for (const round of ['first', 'second']) {
    shell.type(keys.suspend);
    await shell.expect('Stopped');
    shell.type(`echo "in between $((1 + 1)) ${round}"\n`);
    await shell.expect(`in between 2 ${round}`);
    shell.type('fg\n');
    await shell.expect('continued"');
    shell.type(`${round} line\n`);
    await shell.expect(`${round} line\r\n${round} line`);
  }
  assert.not.match(shell.shown(), 'SIGTTIN');
  shell.type(keys.end);
  shell.type('echo "status $?."\n');
  await shell.expect('status 0.');
  assert.is(await leave(shell), 0);
});

terminals('of a shell: no signal but those of the keyboard, also over Ctrl-Z, bg and fg', async () => {
  const shell = openShell();
  shell.type(`${wrapped(['sh', '-c', '"$0" "$@"; exit', ...signalRecorder])}\n`);
  const pid = (await shell.expect(/ready \d+/)).slice('ready '.length);
  shell.type(keys.suspend);
  await shell.expect('Stopped');
  shell.type('bg\n');
  await shell.expect('SIGCONT');
  shell.type('fg\n');
  assert.equal(await recorded(shell, pid), ['SIGTSTP', 'SIGCONT']);
  assert.is(await leave(shell), 0);
});

terminals('of a shell: started in the background, it may read once it is in the foreground', async () => {
  const shell = openShell();
  shell.type(`${wrapped(['sh', '-c', 'echo ready; read line; echo "got $line"'])} &\n`);
  await shell.expect('stopped"');
  shell.type('until [ "$(jobs -s)" ]; do sleep 0.05; done; echo "stopped $((1 + 1))"\n');
  await shell.expect('stopped 2');
  shell.type('fg\n');
  await shell.expect('continued"');
  shell.type('a line\n');
  await shell.expect('got a line');
  assert.is(await leave(shell), 0);
});

terminals('of a shell: brought to the foreground while it runs, it may read', async () => {
  const shell = openShell();
  const script =
    'trap go=1 USR1; echo "ready $$"; until [ "$go" ]; do sleep 0.05; done; read line; echo "got $line"';
  shell.type(`${wrapped(['sh', '-c', script])} &\n`);
  const pid = (await shell.expect(/ready \d+/)).slice('ready '.length);
  shell.type('fg\n');
  await shell.expect(`got $line"'`);
  process.kill(Number(pid), 'SIGUSR1');
  shell.type('a line\n');
  await shell.expect('got a line');
  assert.not.match(shell.shown(), 'Stopped');
  assert.is(await leave(shell), 0);
});

terminals('of a script is the script’s again afterwards', async () => {
  const script = `${wrapped(['sh', '-c', 'exit 3'])}; echo "status $?."; read line; echo "got $line"`;
  const terminal = openTerminal(['sh', '-c', script]);
  await terminal.expect('status 3.');
  terminal.type('a line\n');
  await terminal.expect('got a line');
  assert.is(await terminal.status, 0);
});

terminals(
  'that stops writers in the background: what the wrapper logs does not stop the application',
  async () => {
    const shell = openShell();
    shell.type(`stty tostop; ${wrapped(signalRecorder)}; echo "status $?."\n`);
    await shell.expect('started');
    const pid = (await shell.expect(/ready \d+/)).slice('ready '.length);
    assert.equal(await recorded(shell, pid), []);
    assert.is(await leave(shell), 0);
  },
);

terminals('in a pipeline stays with all of it: keys reach each process once', async () => {
  const shell = openShell();
  const filter = `perl -e '$SIG{INT} = "IGNORE"; $| = 1; print while <STDIN>'`;
  shell.type(`${wrapped(signalRecorder)} | ${filter}; echo "status \${PIPESTATUS[0]}."\n`);
  const pid = (await shell.expect(/ready \d+/)).slice('ready '.length);
  shell.type(keys.interrupt);
  await shell.expect('SIGINT');
  process.kill(Number(pid), 34 as unknown as NodeJS.Signals);
  await shell.expect('status 5.');
  assert.is(shell.shown().split('SIGINT').length, 2);
  assert.is(await leave(shell), 0);
});

terminals('in a pipeline: Ctrl-Z and fg', async () => {
  const shell = openShell();
  shell.type(`${wrapped(['sh', '-c', 'echo ready; exec cat'])} | cat; echo "status \${PIPESTATUS[0]}."\n`);
  await shell.expect('\nready');
  shell.type(keys.suspend);
  await shell.expect('Stopped');
  shell.type('fg\n');
  await shell.expect('continued"');
  shell.type('a line\n');
  await shell.expect('a line\r\na line');
  shell.type(keys.interrupt);
  await shell.expect('$ ');
  shell.type('echo "status $?."\n');
  await shell.expect('status 130.');
  assert.is(await leave(shell), 0);
});

terminals('keeps the settings that the application has made', async () => {
  const script = `stty echo; ${wrapped(['stty', '-echo'])}; stty -a`;
  const terminal = openTerminal(['sh', '-c', script]);
  assert.is(await terminal.status, 0);
  assert.match(terminal.shown(), / -echo /);
});

terminals('an interactive shell works below the wrapper', async () => {
  const terminal = openTerminal(wrapperCommand({}, ['bash', '--norc', '-i']));
  await terminal.expect('$ ');
  terminal.type(`sh -c 'echo "<$((0 + 1))>"; exec sleep 60'\n`);
  await terminal.expect('<1>');
  terminal.type(keys.interrupt);
  await terminal.expect('$ ');
  terminal.type('echo "status $?."\n');
  await terminal.expect('status 130.');
  terminal.type(`sh -c 'echo "<$((1 + 1))>"; exec cat'\n`);
  await terminal.expect('<2>');
  terminal.type('hello\n');
  await terminal.expect('hello\r\nhello');
  terminal.type(keys.suspend);
  await terminal.expect('Stopped');
  // a shell with a job that is stopped refuses the first exit
  terminal.type('kill -KILL %1; disown -a; exit 9\n');
  assert.is(await terminal.status, 9);
});

terminals.run();
