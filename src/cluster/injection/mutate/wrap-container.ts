import { cut } from '../../../runtime/bounds/foreign-text.ts';
import { formatDuration } from '../../../runtime/units.ts';
import type { Container, EnvironmentVariable, Pod } from '../../kube/pod.ts';
import type { ImageCommand, InjectionPlan } from '../contract.ts';
import {
  isWrittenWrapped,
  originalArgs,
  originalCmd,
  runsWrapperItself,
  tokenFolder,
  volumeNames,
} from '../protected-pods.ts';
import {
  addMount,
  callerVariables,
  needsToken,
  secretSettings,
  variable,
  vaultVariables,
} from './additions.ts';
import {
  leavesCommandToImage,
  originalCommand,
  type Start,
  startOf,
  unlockable,
  withMemoryLock,
  withSeccompDefault,
} from './application-process.ts';
import { type Context, proxyPort, type Shared } from './context.ts';

/** A wrapped container, and the volumes that it needs in its pod. */
export interface WrappedContainer {
  readonly container: Container;
  readonly shared: readonly Shared[];
}

/** Wraps a container. Everything that is not set here stays unchanged. */
export function wrapContainer(container: Container, context: Context): WrappedContainer {
  const { pod, defaults, surroundings, remarks } = context;
  const locked = unlockable(pod, container, surroundings) === undefined;
  const agentSocket = locked ? defaults.agentSocket : undefined;
  const ownToken = needsToken(container, context.plan.vault.tokenAudience);
  const healthPort = context.ports.health.get(container.name) ?? 0;
  const settings = wrapperVariables(context.plan, { healthPort, agentSocket, ownToken });
  if (!isWrittenWrapped(container)) remarks.errors.push(...conflictsIn(container, settings));
  const shared = sharedBy(context, agentSocket, ownToken);
  const variables = { settings, defaults: defaultVariables(container, context, locked) };
  const confined = defaults.seccompDefault ? withSeccompDefault(container, pod, surroundings) : container;
  const started = withStart(locked ? withMemoryLock(confined) : confined, variables, context);
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

/** Default variables, which the container may override. */
function defaultVariables(container: Container, { pod, plan, callerKeys }: Context, locked: boolean) {
  return [
    ...variable('SVC_STOP_GRACE', stopGrace(pod)),
    ...(locked ? [] : variable('SVC_REQUIRE_MLOCK', 'false')),
    ...(plan.proxy?.enabled ? variable('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${proxyPort}`) : []),
    ...callerVariables(container, callerKeys),
  ];
}

/** The folder of the node agent's socket, mounted at the node's path. The agent recreates the socket when it starts. */
function agentFolder(socket: string): Shared {
  const folder = socket.slice(0, socket.lastIndexOf('/')) || '/';
  return {
    volume: { name: volumeNames.agent, hostPath: { path: folder, type: 'DirectoryOrCreate' } },
    mount: { name: volumeNames.agent, mountPath: folder, readOnly: true },
  };
}

const defaultGraceSeconds = 30;
const mostSpareMs = 5_000;
const leastMs = 500;

/**
 * Time for the application to stop: the pod's grace period, less a quarter but at most 5 s, in which the wrapper kills
 * remaining processes and exits.
 */
function stopGrace({ spec }: Pod): string {
  const granted = (spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1_000;
  return formatDuration(Math.max(leastMs, granted - Math.min(mostSpareMs, granted / 4)));
}

export interface WrapperFacts {
  readonly healthPort: number;
  /** Path of the node agent's socket, where the wrapper registers. */
  readonly agentSocket: string | undefined;
  readonly ownToken: boolean;
}

/** Variables that the operator sets in a wrapped container, which the container cannot override. */
function wrapperVariables(plan: InjectionPlan, facts: WrapperFacts): readonly EnvironmentVariable[] {
  const { paths, envMap } = secretSettings(plan.secrets);
  const { healthPort, agentSocket, ownToken } = facts;
  return [
    ...vaultVariables(plan, plan.vault.role),
    ...variable('SVC_SECRET_PATHS', paths),
    ...variable('SVC_ENV_MAP', envMap),
    ...variable('SVC_ENV_MAP_ONLY', plan.envMapOnly === undefined ? undefined : String(plan.envMapOnly)),
    ...variable('SVC_ROTATION', plan.rotation),
    ...variable('RENEWAL_INTERVAL', plan.renewalInterval),
    ...variable('SVC_DELIVERY', plan.delivery),
    ...variable('HEALTH_ADDR', `:${healthPort}`),
    ...variable('SVC_EBPF_AGENT_ADDR', agentSocket && `unix://${agentSocket}`),
    ...variable('SVC_SA_TOKEN_PATH', ownToken ? `${tokenFolder}/token` : undefined),
    { name: 'SVC_POD_UID', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } },
  ];
}

const nothing: Start = { command: [], variables: [] };

/** How this container starts; an error if its command is not known. */
function startFor(container: Container, context: Context, added: ReadonlySet<string>): Start {
  if (isWrittenWrapped(container)) return asItIs(container);
  const unfit = (text: string): Start => {
    context.remarks.errors.push(`container ${cut(container.name)}: ${text}`);
    return nothing;
  };
  if (runsWrapperItself(container))
    return unfit('starts svc-wrapper itself; give it the command of the application');
  const image = cut(container.image ?? '');
  const given = leavesCommandToImage(container) ? imageOf(container, context) : unasked;
  if (given === undefined) {
    return unfit(
      `has no command, and ${image} has not been looked up; set command, or the annotation svc/command`,
    );
  }
  const words = originalCommand(container, given);
  if (words.length === 0) return unfit(`neither it nor ${image} has a command; set command`);
  if (words[0]?.text === '') return unfit('its command is empty; set command');
  return startOf(words, container, added);
}

const unasked: ImageCommand = { entrypoint: [], cmd: [], user: '' };

/** `svc/command` replaces the image's command; the pod's arguments follow it. */
function imageOf({ image = '' }: Container, { plan, surroundings }: Context): ImageCommand | undefined {
  if (plan.command !== undefined) return { ...unasked, entrypoint: plan.command };
  return surroundings.images.get(image);
}

function asItIs({ command = [], env = [] }: Container): Start {
  const variables = [originalCmd, originalArgs].map((name) => env.findLast((one) => one.name === name));
  return { command, variables: variables.filter((one) => one !== undefined) };
}

type Variables = readonly EnvironmentVariable[];

interface AddedVariables {
  /** The original command line. */
  readonly start: Variables;
  /** Override the container's own variables. */
  readonly settings: Variables;
  /** Apply if the container does not set them. */
  readonly defaults: Variables;
}

const isStart = ({ name }: EnvironmentVariable): boolean => name === originalCmd || name === originalArgs;

/**
 * The container's own variables in order, then the original command line, which may refer to all of these and nothing
 * else, then the additions. If the webhook is called again, variables that others appended are moved before the command
 * line.
 */
function placeVariables(env: Variables, { start, settings, defaults }: AddedVariables): Variables {
  const at = env.findIndex(isStart);
  const before = at === -1 ? env : env.slice(0, at);
  const behind = (at === -1 ? [] : env.slice(at)).filter((one) => !isStart(one));
  const names = new Set([...settings, ...defaults].map(({ name }) => name));
  const own = [...before, ...behind.filter(({ name }) => !names.has(name))];
  const missing = ({ name }: EnvironmentVariable) => !own.some((one) => one.name === name);
  return [
    ...own.map((one) => settings.find(({ name }) => name === one.name) ?? one),
    ...start,
    ...settings.filter(missing),
    ...defaults.filter(missing).map((one) => behind.find(({ name }) => name === one.name) ?? one),
  ];
}

/** Variables that an unwrapped container sets differently than the operator. */
function conflictsIn({ name: container, env = [] }: Container, settings: Variables): readonly string[] {
  const differing = env.filter(
    (one) => isStart(one) || settings.some((wanted) => wanted.name === one.name && !isEqual(wanted, one)),
  );
  return [...new Set(differing.map(({ name }) => name))].map(
    (name) =>
      `container ${cut(container)}: should not set ${name}, because the operator sets it to another value`,
  );
}

const isEqual = (a: EnvironmentVariable, b: EnvironmentVariable): boolean =>
  a.value === b.value && a.valueFrom?.fieldRef?.fieldPath === b.valueFrom?.fieldRef?.fieldPath;
