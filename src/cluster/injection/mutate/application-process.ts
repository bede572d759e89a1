import { encodeOriginalArgs } from '../../../runtime/settings/setting.ts';
import type { Container, EnvironmentVariable, Pod } from '../../kube/pod.ts';
import type { ImageCommand, InjectionPlan, MutationEnvironment, PodSecurityLevel } from '../contract.ts';
import { chosenContainers, originalArgs, originalCmd, wrapperProgram } from '../protected-pods.ts';

/** How a wrapped container starts. */
export interface Start {
  readonly command: readonly string[];
  /** To be placed after the container's own variables, so that references find those. */
  readonly variables: readonly EnvironmentVariable[];
}

/** Linux allows 128 KiB for one variable. A character takes up to three bytes, and may be escaped as two characters. */
const longestVariable = 20_000;

/**
 * Moves the command line into SVC_ORIGINAL_CMD and SVC_ORIGINAL_ARGS. If an argument refers to a variable whose unknown
 * value might contain a comma, the kubelet's expansion would split the argument; the arguments then follow `--`
 * instead, where the kubelet expands each one by itself.
 * @param words at least one
 * @param added names of variables that only the wrapped container has
 */
export function startOf(words: readonly Word[], container: Container, added: ReadonlySet<string>): Start {
  const [first, ...rest] = words;
  const command = { name: originalCmd, value: first === undefined ? '' : asVariable(first) };
  const args = encodeOriginalArgs(rest.map(({ text }) => text)) ?? '';
  const fits = args.length <= longestVariable && rest.every(survivesIn(container));
  if (!fits) {
    return {
      command: [wrapperProgram, '--', ...words.map(argumentsOf(container, added))],
      variables: [command],
    };
  }
  const variables = rest.length === 0 ? [] : [{ name: originalArgs, value: rest.map(asItem).join(',') }];
  return { command: [wrapperProgram], variables: [command, ...variables] };
}

function survivesIn(container: Container): (word: Word) => boolean {
  const survives = survivorsOf(container);
  return ({ text, expanded }) => {
    if (!expanded) return true;
    const references = piecesOf(text).filter((piece) => piece.kind === 'reference');
    return references.every(({ name }) => name !== originalCmd && survives(name));
  };
}

/** A value that the kubelet expands to the container's original text. */
function asVariable(word: Word, encode: (text: string) => string = (text) => text): string {
  if (!word.expanded) return literal(encode(word.text));
  return piecesOf(word.text)
    .map((piece) => (piece.kind === 'text' ? literal(encode(piece.text)) : reference(piece.name)))
    .join('');
}

const asItem = (word: Word): string => asVariable(word, (text) => encodeOriginalArgs([text]) ?? '');

/** References to variables that only the wrapped container has must stay literal. */
function argumentsOf({ env = [] }: Container, added: ReadonlySet<string>): (word: Word) => string {
  const own = new Set(env.map(({ name }) => name));
  const unknown = (name: string) => (name === originalCmd || added.has(name)) && !own.has(name);
  const asText = (piece: Piece) => {
    if (piece.kind === 'text') return literal(piece.text);
    return unknown(piece.name) ? literal(reference(piece.name)) : reference(piece.name);
  };
  return ({ text, expanded }) => (expanded ? piecesOf(text).map(asText).join('') : literal(text));
}

/** Pod fields whose values never contain a comma or backslash. */
const plainFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
]);

/**
 * Tells whether a reference is safe in SVC_ORIGINAL_ARGS: neither its name nor any possible value contains characters
 * that are special there.
 */
function survivorsOf({ env = [], envFrom = [] }: Container): (name: string) => boolean {
  // if a name repeats, the last variable counts
  const last = new Map(env.map((variable) => [variable.name, variable]));
  return (name) => {
    if (!/^[\w.-]+$/.test(name)) return false;
    const defined = last.get(name);
    if (defined !== undefined) return isPlain(defined);
    // otherwise it is an address variable of a Service, or undefined and stays literal
    return envFrom.length === 0;
  };
}

function isPlain({ value, valueFrom }: EnvironmentVariable): boolean {
  if (value !== undefined && value !== '') return !/[$,\\]/.test(value);
  if (valueFrom === undefined) return true;
  const { fieldRef, resourceFieldRef } = valueFrom;
  return resourceFieldRef !== undefined || (fieldRef !== undefined && plainFields.has(fieldRef.fieldPath));
}

/** One word of a command line. The kubelet expands words from the pod, but not those from the image. */
interface Word {
  readonly text: string;
  readonly expanded: boolean;
}

/** Whether the container's command comes from its image. */
export const leavesCommandToImage = ({ command = [] }: Container): boolean => command.length === 0;

/**
 * The command line of a container as its runtime assembles it; empty if nothing specifies one.
 * @param image used only if the pod specifies no command
 */
export function originalCommand({ command = [], args = [] }: Container, image: ImageCommand): Word[] {
  if (command.length > 0) return [...command, ...args].map(fromPod);
  const entrypoint = withoutEmpty(image.entrypoint).map(fromImage);
  return [...entrypoint, ...(args.length > 0 ? args.map(fromPod) : image.cmd.map(fromImage))];
}

const fromPod = (text: string): Word => ({ text, expanded: true });
const fromImage = (text: string): Word => ({ text, expanded: false });

/** An entrypoint of one empty string counts as none. */
const withoutEmpty = (entrypoint: readonly string[]): readonly string[] =>
  entrypoint.length === 1 && entrypoint[0] === '' ? [] : entrypoint;

/**
 * Images of chosen containers whose command is specified neither by the pod nor by `svc/command`, without duplicates.
 */
export function imagesToLookUp(pod: Pod, plan: InjectionPlan): readonly string[] {
  if (plan.command !== undefined) return [];
  const images = chosenContainers(pod, plan)
    .filter(leavesCommandToImage)
    .map(({ image }) => image)
    .filter((image) => image !== undefined && image !== '');
  return [...new Set(images)] as string[];
}

/** Images of chosen containers that could lock their memory as root, if the pod does not specify their user. */
export function imagesOfUnknownUser(
  pod: Pod,
  plan: InjectionPlan,
  podSecurity: PodSecurityLevel,
): readonly string[] {
  if (podSecurity !== 'privileged') return [];
  const images = chosenContainers(pod, plan)
    .filter((container) => runsAsRoot(pod, container, undefined) === undefined)
    .flatMap(({ image = '' }) => (image === '' ? [] : [image]));
  return [...new Set(images)];
}

/**
 * Whether a container runs as the node's root; undefined if that depends on an image that was not looked up. Root in a
 * user namespace has every capability, but none of them permits locking memory.
 */
function runsAsRoot(
  { spec }: Pod,
  container: Container,
  image: ImageCommand | undefined,
): boolean | undefined {
  if (spec.hostUsers === false) return false;
  const user = container.securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
  if (user !== undefined) return user === 0;
  const nonRoot = container.securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  if (nonRoot === true) return false;
  return image && /^(root|0+)?(:|$)/.test(image.user);
}

const capability = 'IPC_LOCK';

/** Why a container cannot lock its memory or register with the node agent; undefined if it can. */
export function unlockable(
  pod: Pod,
  container: Container,
  { podSecurity, images }: MutationEnvironment,
): string | undefined {
  if (podSecurity !== 'privileged') return `the namespace's Pod Security level is ${podSecurity}`;
  // root there has every capability, but none of them permits locking memory
  if (pod.spec.hostUsers === false) return 'it runs in a user namespace of its own (hostUsers: false)';
  const root = runsAsRoot(pod, container, images.get(container.image ?? ''));
  // a container that has the capability can use it, or was mutated before
  if (root ?? hasCapability(container)) return undefined;
  return root === undefined ? 'its user is not known; set runAsUser' : 'it does not run as root';
}

export function withMemoryLock(container: Container): Container {
  const { securityContext = {} } = container;
  if (securityContext.privileged === true || hasCapability(container)) return container;
  const { capabilities = {} } = securityContext;
  const add = [...(capabilities.add ?? []), capability];
  return { ...container, securityContext: { ...securityContext, capabilities: { ...capabilities, add } } };
}

const hasCapability = (container: Container): boolean =>
  isGranted(container, (name) => name === capability || name === 'ALL');

/** Runtimes also accept `all`; CRI-O accepts any case, and the kernel's names. */
const isAdministrator = (container: Container): boolean =>
  isGranted(container, (name) => /^(all|(cap_)?sys_admin)$/i.test(name));

function isGranted({ securityContext }: Container, isMeant: (capability: string) => boolean): boolean {
  return securityContext?.privileged === true || (securityContext?.capabilities?.add?.some(isMeant) ?? false);
}

/** The API server rejects a pod in which this annotation and the container's profile differ. */
const seccompAnnotation = 'container.seccomp.security.alpha.kubernetes.io/';

/**
 * Applies the runtime's seccomp profile to a container that runs as root, unless the container or its pod names a
 * profile. The profile prevents user namespaces, in which the container could remove the wrapper's folder
 * (docs/adr/0018-svc-init.md); with CAP_SYS_ADMIN it would not, so such containers stay unchanged.
 */
export function withSeccompDefault(
  container: Container,
  pod: Pod,
  { images }: Pick<MutationEnvironment, 'images'>,
): Container {
  const { securityContext = {} } = container;
  const named =
    securityContext.seccompProfile ??
    pod.spec.securityContext?.seccompProfile ??
    pod.metadata.annotations?.[seccompAnnotation + container.name];
  if (named !== undefined || isAdministrator(container)) return container;
  if (runsAsRoot(pod, container, images.get(container.image ?? '')) !== true) return container;
  return {
    ...container,
    securityContext: { ...securityContext, seccompProfile: { type: 'RuntimeDefault' } },
  };
}

/** A part of a command, argument or variable value, as the kubelet parses it. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly name: string };

/**
 * `$(NAME)` is a reference, `$$` a dollar sign; any other `$` is literal. Text between two references is one piece.
 * Source: https://github.com/kubernetes/kubernetes/blob/v1.37.1/third_party/forked/golang/expansion/expand.go
 */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  const lastClose = text.lastIndexOf(')');
  let textStart = 0;
  const endText = (at: number) => {
    if (at > textStart) pieces.push({ kind: 'text', text: unescaped(text.slice(textStart, at)) });
  };
  for (let at = text.indexOf('$'); at !== -1 && at < lastClose; ) {
    const isReference = text[at + 1] === '(';
    if (isReference) {
      const close = text.indexOf(')', at);
      endText(at);
      pieces.push({ kind: 'reference', name: text.slice(at + 2, close) });
      textStart = close + 1;
    }
    at = text.indexOf('$', isReference ? textStart : at + 2);
  }
  endText(text.length);
  return pieces;
}

const unescaped = (text: string): string => text.replace(/\$\$/g, () => '$');

export const reference = (name: string): string => `$(${name})`;

/**
 * Escapes a text so that the kubelet expands it to itself. With an expression, because `replaceAll` of a text makes a
 * rope of a piece for each match, which takes thirty times as much memory.
 */
export const literal = (text: string): string => text.replace(/\$/g, '$$$$');
