import type { Container } from '../../kubernetes/pod.ts';
import type { ImageCommand } from '../contract.ts';
import type { Context } from './context.ts';
import { leavesCommandToImage, originalCommand } from './original-command.ts';
import { type Start, startOf } from './start.ts';
import { isWrapped, originalArgs, originalCmd, runsWrapperItself } from './wrapped.ts';

const nothing: Start = { command: [], variables: [] };

/** How this container starts; a mistake where what it runs is not known. */
export function startFor(container: Container, context: Context, added: ReadonlySet<string>): Start {
  if (isWrapped(container)) return asItIs(container);
  const mistake = (text: string): Start => {
    context.remarks.mistakes.push(`container ${container.name}: ${text}`);
    return nothing;
  };
  if (runsWrapperItself(container))
    return mistake('starts svc-wrapper itself; give it the command of the application');
  const image = leavesCommandToImage(container) ? imageOf(container, context) : unasked;
  if (image === undefined) {
    return mistake(
      `does not say its command, and ${container.image} has not been looked up; set command, or the annotation svc/command`,
    );
  }
  const words = originalCommand(container, image);
  if (words.length === 0) return mistake(`neither it nor ${container.image} says a command; set command`);
  if (words[0]?.text === '') return mistake('its command is empty; set command');
  return startOf(words, container, added);
}

const unasked: ImageCommand = { entrypoint: [], cmd: [], user: '' };

/** `svc/command` stands for the image; behind it come the arguments that the pod says. */
function imageOf({ image = '' }: Container, { plan, surroundings }: Context): ImageCommand | undefined {
  if (plan.command !== undefined) return { ...unasked, entrypoint: plan.command };
  return surroundings.images.get(image);
}

function asItIs({ command = [], env = [] }: Container): Start {
  const variables = [originalCmd, originalArgs].map((name) => env.findLast((one) => one.name === name));
  return { command, variables: variables.filter((one) => one !== undefined) };
}
