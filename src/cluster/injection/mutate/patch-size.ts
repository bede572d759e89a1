import type { Container, Pod } from '../../kube/pod.ts';
import type { ImageCommand, InjectionDefaults, InjectionPlan } from '../contract.ts';
import { chosenContainers } from '../protected-pods.ts';
import { maxAdditions, maxPatch } from '../resolve/bounds.ts';
import { leavesCommandToImage } from './application-process.ts';

/** What the patch of a pod takes at most, counted before anything of it is made. */
export interface PatchSize {
  /** Bytes of its JSON. */
  readonly bytes: number;
  /** Of these, what is not the pod's own: settings, and commands in their new form. */
  readonly added: number;
  /** Number of containers that get objects of their own. */
  readonly wrapped: number;
}

/** The variables, mounts and security context of a wrapped container, without the values that a plan chooses. */
const bytesOfContainer = 1_400;
/** The operator's containers and volumes, without those values. */
const bytesOfPod = 10_000;

export function patchSize(
  pod: Pod,
  plan: InjectionPlan,
  defaults: InjectionDefaults,
  images: ReadonlyMap<string, ImageCommand>,
): PatchSize {
  const { containers, command, serviceConfig, proxy, ...settings } = plan;
  const chosen = chosenContainers(pod, plan);
  const ofAll = sizeOf(settings, escaped) + sizeOf(defaults.agentSocket, escaped) + bytesOfContainer;
  const ofProxy = proxy?.enabled ? sizeOf(settings, escaped) + sizeOf(proxy, escaped) : 0;
  const given = command && sizeOf(command, escaped);
  const ofCommands = chosen.reduce((sum, one) => sum + commandSize(one, given, images), 0);
  const added = chosen.length * ofAll + ofProxy + ofCommands + sizeOf(defaults, escaped) + bytesOfPod;
  const { spec, metadata } = pod;
  const own = [spec.containers, spec.initContainers, spec.volumes, metadata.labels];
  return { bytes: sizeOf(own) + added, added, wrapped: chosen.length };
}

/** Errors for a patch that would be too large to be made. */
export function patchErrors({ bytes, added, wrapped }: PatchSize): string[] {
  const settings = added - wrapped * bytesOfContainer;
  return [
    ...beyond(
      'of settings and commands that svc sets in all wrapped containers together',
      settings,
      maxAdditions,
    ),
    ...beyond('with what svc adds to it', bytes, maxPatch),
  ];
}

function beyond(what: string, count: number, limit: number): string[] {
  if (count <= limit) return [];
  return [
    `the pod: should have at most ${limit} bytes ${what}, would have ${count}; wrap fewer containers (svc/containers), or give each pod fewer secrets or shorter commands`,
  ];
}

/** The command line in the variables or arguments of a wrapped container. */
function commandSize(
  container: Container,
  given: number | undefined,
  images: ReadonlyMap<string, ImageCommand>,
): number {
  const { image = '', args = [] } = container;
  if (!leavesCommandToImage(container)) return sizeOf(container.command, escaped) + sizeOf(args, escaped);
  const { entrypoint = [], cmd = [] } = given === undefined ? (images.get(image) ?? {}) : {};
  const own = args.length > 0 ? args : cmd;
  return (given ?? sizeOf(entrypoint, escaped)) + sizeOf(own, escaped);
}

/** Bytes of a text's JSON, without its quotes. */
type Measure = (text: string) => number;

/** Bytes of the value's JSON. */
function sizeOf(value: unknown, measure: Measure = plain): number {
  if (typeof value === 'string') return measure(value) + 3;
  if (typeof value !== 'object' || value === null) return String(value).length + 1;
  let sum = 3;
  if (Array.isArray(value)) for (const item of value) sum += sizeOf(item, measure);
  else if (value instanceof Map) for (const entry of value) sum += sizeOf(entry, measure);
  else for (const [name, member] of Object.entries(value)) sum += sizeOf(name) + sizeOf(member, measure);
  return sum;
}

const newlines: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d]);
const [quote, dollar, comma, backslash] = [0x22, 0x24, 0x2c, 0x5c];

function plain(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum += bytesOfUnit(text.charCodeAt(at));
  return sum;
}

/** The same of a text escaped for the kubelet and, at most, as an item of a list. */
function escaped(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    sum += bytesOfUnit(unit);
    if (unit === dollar) sum += 1;
    else if (unit === comma || unit === backslash) sum += 2;
  }
  return sum;
}

/** At most: half a surrogate pair is written with six characters, a whole pair with four bytes. */
function bytesOfUnit(unit: number): number {
  if (unit < 0x20) return newlines.has(unit) ? 2 : 6;
  if (unit === quote || unit === backslash) return 2;
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 6 : 3;
}
