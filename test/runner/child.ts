/** Runs one test file (argv[2]) in a process of its own and reports over IPC; see run-file.ts for the other end. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { cpuWithChildren } from '../support/cpu-time.ts';
import { describeError, unavailableTool } from './describe-error.ts';
import type { TestEvent } from './events.ts';
import './uvu-deferred.ts';

// for this process, and not for those that tests start
delete process.env['NODE_COMPILE_CACHE'];
process.execArgv = [];

const HANDLES_AFTER_MS = 2_000;
const file = process.argv[2] ?? '';
const apiUrl = new URL('./uvu-api.ts', import.meta.url).href;

function emit(event: TestEvent): void {
  process.send?.(event);
}

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uvu' && context.parentURL !== apiUrl
      ? { url: apiUrl, shortCircuit: true }
      : next(specifier, context),
});
const { neverRun, observe, queue, runQueue } = await import('./uvu-api.ts');
observe(emit);

process.on('disconnect', () => process.exit(1));
process.channel?.unref();

function onStray(kind: string): (error: unknown) => void {
  return (error) => emit({ type: 'fail', name: kind, error: describeError(error) });
}
process.on('uncaughtException', onStray('uncaught exception'));
process.on('unhandledRejection', onStray('unhandled rejection'));

async function load(): Promise<boolean> {
  try {
    const { timeout } = (await import(pathToFileURL(file).href)) as { timeout?: number };
    emit(timeout === undefined ? { type: 'loaded' } : { type: 'loaded', timeout });
    return true;
  } catch (error) {
    const missing = unavailableTool(error);
    if (missing) emit({ type: 'skip', name: 'import', reason: missing, count: 1 });
    else emit({ type: 'fail', name: 'import', error: describeError(error) });
    return false;
  }
}

if (await load()) {
  if (queue.length === 0) emit({ type: 'fail', name: 'file', error: 'The file runs no suite.' });
  await runQueue();
  for (const name of neverRun()) {
    emit({
      type: 'fail',
      name,
      error: 'Tests of it are never run: its .run() was not called, or they came while it ran.',
    });
  }
}
const isLinux = process.platform === 'linux';
emit({ type: 'done', ...(isLinux && { cpuMilliseconds: cpuWithChildren(process.pid) }) });
setTimeout(
  () => emit({ type: 'handles', active: process.getActiveResourcesInfo() }),
  HANDLES_AFTER_MS,
).unref();
