import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../core/errors.ts';
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
} from '../../../core/protection/bpf-layouts.ts';
import { type Tier, tierNames } from '../../../core/protection/report.ts';
import type { BpfMap } from '../../../runtime/bpf/map.ts';
import { type BpfObject, openObject } from '../../../runtime/bpf/object.ts';
import type { BpfLink } from '../../../runtime/bpf/program.ts';
import { packageFolder } from '../../../runtime/component/package-folder.ts';

/** The programs of one tier, in the kernel. They guard once they are attached. */
export interface ProgramSet {
  readonly tier: Tier;
  readonly generation: number;
  map(name: string): BpfMap;
  ask(request: Exclude<keyof typeof requests, 'forget'>, pid: number, flags?: number): ManageReply;
  /** Takes out the entry of a process that is gone. */
  forget(process: ProcessKey): void;
  settings(): GuardSettings;
  /** As this process has written them last; undefined before that. */
  readonly written: GuardSettings | undefined;
  change(settings: Partial<GuardSettings>): void;
  /** Paths of all that is pinned, and has to stay so for enforcement to outlive this process. */
  pins(): string[];
  /**
   * Attaches and pins everything but what `attachLate` is for.
   * @returns what this kernel does not give and the tier can do without, as a sentence
   * @throws SvcError BPF_ATTACH_FAILED, NativeError
   */
  attach(asked: Asked): string | undefined;
  /** Attaches the check of what a call has brought, for kernels that preempt; harmless when repeated. */
  attachAfterHooks(): void;
  /** Names of the programs that are attached. */
  attached(): readonly string[];
  /** Attaches the check of every read, which costs; on tier 3 reads are checked anyway. */
  attachLate(): void;
  detachLate(): void;
  readonly isLateAttached: boolean;
  /** Gives up this process's handles; what is pinned stays. */
  close(): void;
  /** Detaches for good. */
  remove(): void;
}

/** What some programs are attached for. */
export interface Asked {
  /** Programs may be interrupted on this kernel: what passes by them is looked for. */
  readonly preemptible: boolean;
  /** Readers that cannot be denied are to be killed: on tier 3 also those that no call of their own shows in time. */
  readonly killing: boolean;
}

/** Run by request, never attached. */
const unattached = 'manage';
const late = 'file_permission';
const afterHooks = 'call_not_denied';
const beforeCopies = 'memory_locking';
const onlyEntry = Buffer.alloc(4);

/**
 * Brings a tier's programs into the kernel; maps that are pinned from an earlier set are taken over.
 * @param folder of the agent on a BPF file system
 * @throws SvcError BPF_* with the kernel's reason; ENOENT where the package was built without its objects
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

/** @returns why it could not be done */
function tryTo(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return `Readers of several threads may be quicker than their end, and io_uring is not seen: ${error.message}`;
  }
}

const linksPrefix = 'links-';
/** A BPF file system keeps no files, but folders. */
const unloadedMark = 'unloaded';

/** Where maps and links of this layout are pinned, below the agent's folder on the BPF file system. */
export const mapFolder = (folder: string): string => join(folder, String(layoutVersion));

/** The links of one set of programs have a folder of their own, so that a new set is complete before the old one goes. */
const linkFolder = (folder: string, generation: number): string =>
  join(mapFolder(folder), `${linksPrefix}${generation}`);

/** The maps of this layout that are pinned now. */
function mapPins(folder: string): string[] {
  const all = list(mapFolder(folder)).filter((name) => !name.startsWith(linksPrefix));
  return all.map((name) => join(mapFolder(folder), name));
}

/** Folders of links that this or earlier agents have pinned, of any layout. */
export function linkFolders(folder: string): string[] {
  return list(folder)
    .map((layout) => join(folder, layout))
    .flatMap((layout) =>
      list(layout)
        .filter((name) => name.startsWith(linksPrefix))
        .map((name) => join(layout, name)),
    );
}

/** Those of this layout, which share its maps. */
export function ownLinkFolders(folder: string): string[] {
  return linkFolders(folder).filter((path) => path.startsWith(`${mapFolder(folder)}/`));
}

/** Unpins what lies in a folder, which detaches programs that nobody else holds. */
export function unpin(folder: string): void {
  for (const name of list(folder)) unlinkSync(join(folder, name));
  if (list(folder).length === 0) removeFolder(folder);
}

/**
 * Takes everything of every agent off this node: first the links, then the maps.
 * @returns how many pins there were
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

/** Tells an agent that runs beside that what goes is meant to go. */
export function markUnloaded(folder: string): void {
  if (existsSync(folder)) mkdirSync(join(folder, unloadedMark), { recursive: true });
}

const isUnloaded = (folder: string): boolean => existsSync(join(folder, unloadedMark));

export const forgetUnloaded = (folder: string): void => removeFolder(join(folder, unloadedMark));

/** An agent without the privilege finds that out as it loads programs, and says so then. */
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

/** What nobody but the agent changes; when openings are seen from is the programs' to change, too. */
const own = ['enforce', 'kill', 'left', 'generation', 'agent'] as const;

/**
 * What others have changed of a set of programs and the canary does not see: it is tried by the agent itself, whom
 * nothing kills, and what is unpinned guards for as long as the agent lives.
 * @returns what is wrong
 */
export function findTampering(set: ProgramSet, folder: string): string | undefined {
  const missing = isUnloaded(folder) ? undefined : set.pins().find((path) => !existsSync(path));
  if (missing !== undefined) return `${missing} has been unpinned`;
  const changed = changedSetting(set);
  return changed === undefined ? undefined : `the setting ${changed} has been changed`;
}

/** The name of one that others have changed. */
export function changedSetting(set: ProgramSet): string | undefined {
  const settings = set.settings();
  return own.find((name) => !isEqual(settings[name], set.written?.[name]));
}

/** Puts settings right at once: until another set of programs is proven, these go by them. */
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
