import type { Container } from '../../kubernetes/pod.ts';
import { wrapperProgram } from './names.ts';

export const originalCmd = 'SVC_ORIGINAL_CMD';
export const originalArgs = 'SVC_ORIGINAL_ARGS';

/**
 * Whether the wrapper starts this container already, in one of the two forms of `start.ts`. Whoever writes a pod this
 * way gains nothing by it: all settings are put in force as in any other container.
 */
export function isWrapped({ command = [], args = [], env = [] }: Container): boolean {
  if (command[0] !== wrapperProgram || args.length > 0) return false;
  if (!env.some(({ name, value }) => name === originalCmd && value !== undefined && value !== ''))
    return false;
  return command.length === 1 || (command[1] === '--' && command.length > 2);
}

/** Whether it runs the wrapper in a form of its own, with flags that would win over what is set here. */
export const runsWrapperItself = (container: Container): boolean =>
  container.command?.[0] === wrapperProgram && !isWrapped(container);
