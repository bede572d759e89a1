import type { Container } from '../../kubernetes/pod.ts';
import { addMount } from './add-volume.ts';
import { agentFolder } from './agent-socket.ts';
import { callerVariables } from './caller-keys.ts';
import type { Context } from './context.ts';
import { type AddedVariables, conflictsIn, placeVariables } from './environment.ts';
import { unlockable, withMemoryLock } from './memory-lock.ts';
import { proxyPort } from './ports.ts';
import type { Shared } from './shared.ts';
import { startFor } from './start-for.ts';
import { stopGrace } from './stop-grace.ts';
import { needsToken } from './token.ts';
import { variable } from './vault-variables.ts';
import { isWrapped } from './wrapped.ts';
import { wrapperVariables } from './wrapper-variables.ts';

/** A container that the wrapper starts, and the volumes that it needs in its pod. */
export interface WrappedContainer {
  readonly container: Container;
  readonly shared: readonly Shared[];
}

/** The container as it is to run under the wrapper. Whatever it has beside what is set here stays as it is. */
export function wrapContainer(container: Container, context: Context): WrappedContainer {
  const { pod, defaults, surroundings, remarks } = context;
  const locked = unlockable(pod, container, surroundings) === undefined;
  const agentSocket = locked ? defaults.agentSocket : undefined;
  const ownToken = needsToken(container, context.plan.vault.tokenAudience);
  const healthPort = context.ports.health.get(container.name) ?? 0;
  const settings = wrapperVariables(context.plan, { healthPort, agentSocket, ownToken });
  if (!isWrapped(container)) remarks.mistakes.push(...conflictsIn(container, settings));
  const shared = sharedBy(context, agentSocket, ownToken);
  const variables = { settings, defaults: defaultVariables(container, context, locked) };
  const started = withStart(locked ? withMemoryLock(container) : container, variables, context);
  const mounted = shared.reduce((into, { mount }) => addMount(into, mount, remarks), started);
  return { container: mounted, shared };
}

function sharedBy(
  { folder, certificates, token }: Context,
  agentSocket: string | undefined,
  ownToken: boolean,
) {
  return [
    folder,
    ...(certificates === undefined ? [] : [certificates]),
    ...(ownToken ? [token] : []),
    ...(agentSocket === undefined ? [] : [agentFolder(agentSocket)]),
  ];
}

function withStart(
  container: Container,
  variables: Omit<AddedVariables, 'start'>,
  context: Context,
): Container {
  const names = [...variables.settings, ...variables.defaults].map(({ name }) => name);
  const { command, variables: start } = startFor(container, context, new Set(names));
  const { args: _, ...rest } = container;
  return { ...rest, command, env: placeVariables(container.env ?? [], { ...variables, start }) };
}

/** The container's own to set otherwise. */
function defaultVariables(container: Container, { pod, plan, callerKeys }: Context, locked: boolean) {
  return [
    ...variable('SVC_STOP_GRACE', stopGrace(pod)),
    ...(locked ? [] : variable('SVC_REQUIRE_MLOCK', 'false')),
    ...(plan.proxy?.enabled ? variable('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${proxyPort}`) : []),
    ...callerVariables(container, callerKeys),
  ];
}
