const flag = '--health';

/** The command line for a worker: the same without a health server, which the primary has. A flag may stand once only. */
export function workerArguments(given: readonly string[]): string[] {
  const kept = given.filter(
    (argument, index) => argument !== flag && !argument.startsWith(`${flag}=`) && given[index - 1] !== flag,
  );
  return [...kept, flag, ''];
}
