import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../../runtime/component/package-folder.ts';
import { SvcError } from '../../../runtime/errors.ts';
import {
  decodeManageReply,
  decodeSettings,
  encodeRequest,
  encodeSettings,
  type GuardSettings,
  layoutVersion,
  type ManageReply,
  type ProcessKey,
  requests,
} from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { type Tier, tierNames } from '../../../runtime/protocols/protection/report.ts';
import type { BpfMap } from '../bpf/map.ts';
import { type BpfObject, openObject } from '../bpf/object.ts';
import type { BpfLink } from '../bpf/program.ts';

/** The programs of one tier in the kernel. They guard once attached. */
export interface ProgramSet {
  readonly tier: Tier;
  readonly generation: number;
  map(name: string): BpfMap;
  ask(request: Exclude<keyof typeof requests, 'forget'>, pid: number, flags?: number): ManageReply;
  /** Removes the entry of a process that is gone. */
  forget(process: ProcessKey): void;
  settings(): GuardSettings;
  /** The settings that this process wrote last; undefined before the first write. */
  readonly written: GuardSettings | undefined;
  change(settings: Partial<GuardSettings>): void;
  /** Paths of all pins, which must stay for enforcement to outlive this process. */
  pins(): string[];
  /**
   * Attaches and pins the programs that are needed from the start, which depends on `asked`.
   * @returns what this kernel does not provide and the tier works without, as a sentence
   * @throws SvcError BPF_ATTACH_FAILED, NativeError
   */
  attach(asked: Asked): string | undefined;
  /** Attaches the check of a call's result, for kernels that preempt; may be repeated. */
  attachAfterHooks(): void;
  /** Names of the attached programs. */
  attached(): readonly string[];
  /** Attaches the check of every read, which is costly; tier 3 checks reads anyway. */
  attachLate(): void;
  detachLate(): void;
  readonly isLateAttached: boolean;
  /** Closes this process's handles; pins stay. */
  close(): void;
  /** Detaches for good. */
  remove(): void;
}

/** Conditions under which some programs are attached. */
export interface Asked {
  /** Whether programs may be preempted on this kernel, so that calls that bypass them must be looked for. */
  readonly preemptible: boolean;
  /** Whether to kill readers that cannot be denied: on tier 3 also those whose own calls do not show them in time. */
  readonly killing: boolean;
}

/** Runs on request, never attached. */
const unattached = 'manage';
const late = 'file_permission';
const afterHooks = 'call_not_denied';
const beforeCopies = 'memory_locking';
const onlyEntry = Buffer.alloc(4);

/**
 * Loads a tier's programs into the kernel; reuses maps that an earlier set has pinned.
 * @param folder of the agent on a BPF file system
 * @throws SvcError BPF_* with the kernel's reason; ENOENT if the package was built without BPF objects
 */
export function loadProgramSet(
  tier: Tier,
  folder: string,
  { generation, preemptionAddress }: { generation: number; preemptionAddress: bigint },
): ProgramSet {
  const object = openObject(readObject(tier), {
    name: `svc_${tierNames[tier]}`,
    pinFolder: mapFolder(folder),
    constants: { generation, preemption_address: preemptionAddress },
  });
  try {
    object.load();
    return setOver(object, tier, folder, generation);
  } catch (error) {
    object.close();
    throw error;
  }
}

function readObject(tier: Tier): Buffer {
  return readFileSync(new URL(`dist/bpf/${process.arch}/${tierNames[tier]}.bpf.o`, packageFolder()));
}

function setOver(object: BpfObject, tier: Tier, folder: string, generation: number): ProgramSet {
  const pins = linkFolder(folder, generation);
  const maps = mapPins(folder);
  const links = new Map<string, BpfLink>();
  let written: GuardSettings | undefined;
  const settings = object.map('settings');
  const answer = object.map('answer');
  const manage = object.program(unattached);
  const read = () => decodeSettings(settings.lookup(onlyEntry) as Buffer);
  const attach = (name: string) => {
    if (links.has(name)) return;
    const link = object.program(name).attach();
    links.set(name, link);
    link.pin(join(pins, name));
  };
  const detach = (name: string) => {
    if (!links.has(name)) return;
    unlinkSync(join(pins, name));
    links.get(name)?.destroy();
    links.delete(name);
  };
  const close = () => {
    for (const link of links.values()) link.destroy();
    links.clear();
    object.close();
  };
  return {
    tier,
    generation,
    map: object.map,
    ask(request, pid, flags = 0) {
      manage.run(encodeRequest(requests[request], pid, flags));
      return decodeManageReply(answer.lookup(onlyEntry) as Buffer);
    },
    forget: ({ pid, start }) => manage.run(encodeRequest(requests.forget, pid, start)),
    settings: read,
    get written() {
      return written;
    },
    change(changes) {
      written = { ...read(), ...changes };
      settings.update(onlyEntry, encodeSettings(written));
    },
    pins: () => [...maps, ...[...links.keys()].map((name) => join(pins, name))],
    attach({ preemptible, killing }) {
      const left = [unattached, late, beforeCopies, ...(preemptible ? [] : [afterHooks])];
      const names = object.programs().map(({ name }) => name);
      for (const name of names) if (!left.includes(name)) attach(name);
      return killing && names.includes(beforeCopies) ? tryTo(() => attach(beforeCopies)) : undefined;
    },
    attachAfterHooks() {
      if (object.programs().some(({ name }) => name === afterHooks)) attach(afterHooks);
    },
    attached: () => [...links.keys()],
    attachLate() {
      if (!links.has(late) && object.programs().some(({ name }) => name === late)) attach(late);
    },
    detachLate: () => detach(late),
    get isLateAttached() {
      return links.has(late);
    },
    close,
    remove() {
      unpin(pins);
      close();
    },
  };
}

/** @returns why it failed; undefined if it succeeded */
function tryTo(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return `Multi-threaded readers may finish before they are killed, and io_uring is not seen: ${error.message}`;
  }
}

const linksPrefix = 'links-';
/** A folder serves as a mark, because a BPF file system keeps no plain files. */
const unloadedMark = 'unloaded';

/** Folder of this layout's pinned maps and links, below the agent's folder on the BPF file system. */
export const mapFolder = (folder: string): string => join(folder, String(layoutVersion));

/** Each set of programs has its own folder of links, so that a new set is complete before the old one is removed. */
const linkFolder = (folder: string, generation: number): string =>
  join(mapFolder(folder), `${linksPrefix}${generation}`);

/** The currently pinned maps of this layout. */
function mapPins(folder: string): string[] {
  const all = list(mapFolder(folder)).filter((name) => !name.startsWith(linksPrefix));
  return all.map((name) => join(mapFolder(folder), name));
}

/** Folders of links that this or earlier agents pinned, of any layout. */
export function linkFolders(folder: string): string[] {
  return list(folder)
    .map((layout) => join(folder, layout))
    .flatMap((layout) =>
      list(layout)
        .filter((name) => name.startsWith(linksPrefix))
        .map((name) => join(layout, name)),
    );
}

/** The folders of this layout, whose programs share its maps. */
export function ownLinkFolders(folder: string): string[] {
  return linkFolders(folder).filter((path) => path.startsWith(`${mapFolder(folder)}/`));
}

/** Removes the pins in a folder, which detaches programs that nobody else holds. */
export function unpin(folder: string): void {
  for (const name of list(folder)) unlinkSync(join(folder, name));
  if (list(folder).length === 0) removeFolder(folder);
}

/**
 * Removes all agents' pins from this node: first the links, then the maps.
 * @returns the number of pins
 */
export function unpinAll(folder: string): number {
  let pins = 0;
  const empty = (path: string) => {
    pins += list(path).length;
    unpin(path);
  };
  for (const path of linkFolders(folder)) empty(path);
  for (const layout of list(folder)) if (layout !== unloadedMark) empty(join(folder, layout));
  if (list(folder).length === 0) removeFolder(folder);
  return pins;
}

/** Tells a running agent that the removal of pins is intended. */
export function markUnloaded(folder: string): void {
  if (existsSync(folder)) mkdirSync(join(folder, unloadedMark), { recursive: true });
}

const isUnloaded = (folder: string): boolean => existsSync(join(folder, unloadedMark));

export const forgetUnloaded = (folder: string): void => removeFolder(join(folder, unloadedMark));

/** Ignored here: an agent without the privilege fails, with a reason, when it loads programs. */
const refusals = ['EACCES', 'EPERM', 'EROFS'];

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', ...refusals].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!['ENOENT', ...refusals].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Settings that only the agent changes; `watchingSince` is also changed by the programs. */
const own = ['enforce', 'kill', 'left', 'generation', 'agent'] as const;

/**
 * Finds changes by others that the canary does not notice: the agent itself is never killed, and unpinned programs keep
 * enforcing while the agent lives.
 * @returns what was changed; undefined if nothing was
 */
export function findTampering(set: ProgramSet, folder: string): string | undefined {
  const missing = isUnloaded(folder) ? undefined : set.pins().find((path) => !existsSync(path));
  if (missing !== undefined) return `${missing} has been unpinned`;
  const changed = changedSetting(set);
  return changed === undefined ? undefined : `the setting ${changed} has been changed`;
}

/** The name of a setting that others have changed. */
export function changedSetting(set: ProgramSet): string | undefined {
  const settings = set.settings();
  return own.find((name) => !isEqual(settings[name], set.written?.[name]));
}

/** Restores settings at once: the programs obey them until another set is proven. */
export function restoreSettings(set: ProgramSet): void {
  if (set.written === undefined) return;
  const { enforce, kill, left, generation, agent } = set.written;
  set.change({ enforce, kill, left, generation, agent });
}

type Value = GuardSettings[(typeof own)[number]] | undefined;

function isEqual(one: Value, other: Value): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return one.pid === other.pid && one.start === other.start;
}
