import { addressVariables } from '../../core/egress/variables.ts';
import { proxyName, wrapperProgram } from '../../core/injection/mutate/names.ts';
import type { Container, EnvironmentVariable } from '../../core/kubernetes/pod.ts';
import { scoredVariables } from '../../core/score/variables.ts';
import { pick } from './pick.ts';

const scored: ReadonlySet<string> = new Set(scoredVariables);
const addresses: ReadonlySet<string> = new Set(addressVariables);

/** Arguments may carry secrets: of them, only that they are there is kept, and of the command the program. */
export function projectContainer(container: Container): Container {
  const { command, args, env, volumeMounts } = container;
  const isOurs = command?.[0] === wrapperProgram || container.name === proxyName;
  return {
    ...pick(container, ['name', 'image', 'envFrom', 'securityContext', 'restartPolicy']),
    ...(command && { command: command.map(projectWord) }),
    ...(args && { args: args.map(() => '') }),
    ...(env && { env: env.map((one) => projectVariable(one, isOurs)) }),
    ...(volumeMounts && { volumeMounts: volumeMounts.map(projectMember) }),
  };
}

/** The `--` after the program is how a container that has none in its image is wrapped. */
function projectWord(word: string, index: number): string {
  return index === 0 || (index === 1 && word === '--') ? word : '';
}

/** @param isOurs the container starts the wrapper, or is the proxy */
function projectVariable(
  { name, value, valueFrom }: EnvironmentVariable,
  isOurs: boolean,
): EnvironmentVariable {
  if (valueFrom !== undefined) return { name, valueFrom };
  const isKept = scored.has(name) || (isOurs && addresses.has(name));
  return value !== undefined && isKept ? { name, value } : { name };
}

/** The API server makes a volume of its own for each pod's token, with a random name: under one name pods are alike. */
const tokenVolume = /^kube-api-access-[a-z0-9]{5}$/;

/** Of `volumes` or `volumeMounts`. */
export function projectMember<T extends { readonly name: string }>(member: T): T {
  return tokenVolume.test(member.name) ? { ...member, name: 'kube-api-access' } : member;
}
