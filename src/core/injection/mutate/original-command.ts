import type { Container } from '../../kubernetes/pod.ts';
import type { ImageCommand } from '../contract.ts';

/** One word of a command line. The kubelet expands those that the pod says, and no others. */
export interface Word {
  readonly text: string;
  readonly expanded: boolean;
}

/** Whether only its image says what the container runs. */
export const leavesCommandToImage = ({ command = [] }: Container): boolean => command.length === 0;

/**
 * The command line of a container as its runtime puts it together; empty where nothing says one.
 * @param image asked only where the pod says no command
 */
export function originalCommand({ command = [], args = [] }: Container, image: ImageCommand): Word[] {
  if (command.length > 0) return [...command, ...args].map(fromPod);
  const entrypoint = withoutEmpty(image.entrypoint).map(fromImage);
  return [...entrypoint, ...(args.length > 0 ? args.map(fromPod) : image.cmd.map(fromImage))];
}

const fromPod = (text: string): Word => ({ text, expanded: true });
const fromImage = (text: string): Word => ({ text, expanded: false });

/** An entrypoint of one empty string means none. */
const withoutEmpty = (entrypoint: readonly string[]): readonly string[] =>
  entrypoint.length === 1 && entrypoint[0] === '' ? [] : entrypoint;
