import { readFileSync } from 'node:fs';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { pageSize, type Region } from '../../runtime/native/memory.ts';
import {
  type ArgumentRoom,
  argumentRoom,
  environmentStrings,
  memlockLimit,
} from '../../runtime/native/own-process.ts';
import type { SecretMemory } from '../../runtime/native/secret-memory.ts';
import { regionSize } from '../../runtime/protocols/secret-records/region-layout.ts';
import { encodedLength, writeFirstGeneration } from '../../runtime/protocols/secret-records/region-writer.ts';
import { type Delivered, descriptorVariable, dummyVariable, originOf, ownVariables } from './name-secrets.ts';
import type { WrapperConfig } from './read-config.ts';
import type { Launch } from './replace-process.ts';
import { wrapperSettings } from './settings.ts';

export interface ApplicationEnvironment {
  readonly config: WrapperConfig;
  readonly memory: SecretMemory;
  readonly inherited: readonly Uint8Array[];
}

/** An application with its secrets laid out, ready to be started once. */
export interface PreparedApplication {
  readonly launch: Launch;
  /** The records that the application shares, or from which its environment is built. */
  readonly region: Region;
  /** Whether the application gets the descriptor. */
  readonly shared: boolean;
  /** Names of inherited variables that a secret replaces. */
  readonly replaced: readonly string[];
}

/**
 * Writes the records into a region of their own and builds the environment.
 * @throws SvcError MEMFD_SECRET_UNAVAILABLE (exit 71) if the descriptor is the only delivery and unavailable,
 * SECRETS_TOO_LARGE (exit 78) if the environment cannot hold them
 */
export function prepareApplication(
  delivered: readonly Delivered[],
  around: ApplicationEnvironment,
): PreparedApplication {
  const { settings, file, args } = around.config;
  const room = { spare: settings.rotation === 'sighup', lockLimit: memlockLimit().soft };
  const region = around.memory.allocate(regionSize(encodedLength(delivered), room, pageSize()));
  try {
    writeFirstGeneration(region.bytes, delivered);
    const shared = settings.delivery !== 'env' && region.descriptor !== undefined;
    if (settings.delivery === 'fd' && !shared) throw noDescriptor();
    const records = settings.delivery === 'fd' ? [] : recordsIn(region.bytes);
    const descriptor = shared ? region.descriptor : undefined;
    const { entries: env, replaced } = childEnvironment({ inherited: around.inherited, records, descriptor });
    if (records.length > 0) checkRoom(delivered, [file, ...args, ...env], argumentRoom());
    return { launch: { file, args, env, descriptor, memory: around.memory }, region, shared, replaced };
  } catch (error) {
    region.release();
    throw error;
  }
}

function noDescriptor(): SvcError {
  return new SvcError('MEMFD_SECRET_UNAVAILABLE', 'There is no memfd_secret memory for SVC_DELIVERY=fd', {
    nextStep:
      'Use a kernel with memfd_secret (Linux 5.14) and a memory-lock limit that allows it, or SVC_DELIVERY=env.',
    exitStatus: exitStatus.system,
  });
}

const pointerBytes = 8;

/**
 * Checks that the kernel will accept the strings, before anything is started or stopped for them.
 * @param strings arguments and environment, the secrets included
 * @throws SvcError SECRETS_TOO_LARGE (exit 78) whose details give path and field
 */
export function checkRoom(
  delivered: readonly Delivered[],
  strings: readonly (string | Uint8Array)[],
  room: ArgumentRoom,
): void {
  const errors = delivered.flatMap((secret) => tooLong(secret, room.string));
  const total = strings.reduce((sum, string) => sum + Buffer.byteLength(string) + 1 + pointerBytes, 0);
  if (total > room.total)
    errors.push(
      `arguments and environment together have ${total} bytes, but the system allows ${room.total}`,
    );
  if (errors.length === 0) return;
  throw new SvcError('SECRETS_TOO_LARGE', 'The secrets are too large for an environment', {
    nextStep: 'Deliver them by the descriptor only (SVC_DELIVERY=fd), or deliver fewer (SVC_ENV_MAP_ONLY).',
    exitStatus: exitStatus.config,
    details: errors,
  });
}

function tooLong(secret: Delivered, longest: number): string[] {
  const { key, value } = secret;
  const length = Buffer.byteLength(key) + value.length + 2;
  return length > longest
    ? [`${originOf(secret)}: has ${value.length} bytes, with its name more than the ${longest} of a variable`]
    : [];
}

/** All strings are `KEY=VALUE` bytes without their NUL. */
export interface EnvironmentSources {
  readonly inherited: readonly Uint8Array[];
  /** Secrets for the environment, in protected memory; none if the descriptor alone delivers them. */
  readonly records: readonly Uint8Array[];
  /** Number of the secrets' descriptor in the application. */
  readonly descriptor: number | undefined;
}

export interface ChildEnvironment {
  /** Secrets are the records themselves, not copies: the only copy is the environment block, in protected memory. */
  readonly entries: readonly Uint8Array[];
  /** Names of inherited variables that a secret replaces. */
  readonly replaced: readonly string[];
}

/** The wrapper's configuration, which includes its token, must not reach the application. */
const notInherited = new Set([
  ...Object.values(wrapperSettings).map(({ variable }) => variable),
  ...ownVariables,
]);

/**
 * Once a program has overwritten the end of its arguments (`setproctitle`), the kernel shows the bytes that follow, up
 * to the next NUL, as part of them. This harmless string follows the arguments, with spare length so that a title which
 * is some bytes too long does not reach the next string either.
 */
const dummy = Buffer.from(`${dummyVariable}=`.padEnd(128, '-'));

/** The environment of the application: the dummy, inherited variables, the descriptor, the secrets. */
export function childEnvironment({ inherited, records, descriptor }: EnvironmentSources): ChildEnvironment {
  const kept = inherited.filter((entry) => !notInherited.has(nameOf(entry)));
  const names = new Set(records.map(nameOf));
  const [others, lost] = [
    kept.filter((one) => !names.has(nameOf(one))),
    kept.filter((one) => names.has(nameOf(one))),
  ];
  const set = descriptor === undefined ? [] : [Buffer.from(`${descriptorVariable}=${descriptor}`)];
  return { entries: [dummy, ...others, ...set, ...records], replaced: [...new Set(lost.map(nameOf))] };
}

/** The records at the start of a region, up to the empty one: `KEY=VALUE` bytes as views. */
export function recordsIn(region: Uint8Array): readonly Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let start = 0; start < region.length && region[start] !== 0; ) {
    const nul = region.indexOf(0, start);
    const end = nul === -1 ? region.length : nul;
    records.push(region.subarray(start, end));
    start = end + 1;
  }
  return records;
}

/** The bytes after the first `=` of a record, as a view. */
export function valueIn(record: Uint8Array): Buffer {
  const start = record.indexOf(0x3d) + 1;
  return Buffer.from(record.buffer, record.byteOffset + start, record.length - start);
}

/** Meant for the application: the wrapper's own Node must not load what these options name. */
export const nodeOptions = 'NODE_OPTIONS';

/** Where bin/svc-wrapper.js keeps NODE_OPTIONS, empty if unset. Short: the kernel reads 127 bytes of its `#!` line. */
const keptNodeOptions = 'SVC_NODE_OPTIONS';

/**
 * The environment that this process was started with, as `KEY=VALUE` bytes: `process.env` would change bytes that are
 * not UTF-8. Strings without `=`, such as the overwritten token, are left out. Node's options have their usual name
 * again. Call after the token has been overwritten.
 * @param file if unreadable (no /proc, or an ordinary user whose process is not dumpable), the C library's strings
 * serve
 */
export function inheritedEnvironment(file = '/proc/self/environ'): readonly Uint8Array[] {
  return asBefore(stringsOf(file).filter((one) => one.includes(0x3d)));
}

function stringsOf(file: string): readonly Buffer[] {
  try {
    return readFileSync(file, 'latin1')
      .split('\0')
      .map((one) => Buffer.from(one, 'latin1'));
  } catch {
    return environmentStrings();
  }
}

/** For a wrapper that replaces this process: its environment as bin/svc-wrapper.js would pass it. */
export function withoutNodeOptions(entries: readonly Uint8Array[]): readonly Uint8Array[] {
  return entries.map((entry) => renamed(entry, nodeOptions, keptNodeOptions));
}

function asBefore(entries: readonly Uint8Array[]): readonly Uint8Array[] {
  const empty = `${keptNodeOptions}=`.length;
  const given = entries.filter((entry) => nameOf(entry) !== keptNodeOptions || entry.length > empty);
  const twice = given.some((entry) => nameOf(entry) === nodeOptions);
  if (twice) return given.filter((entry) => nameOf(entry) !== keptNodeOptions);
  return given.map((entry) => renamed(entry, keptNodeOptions, nodeOptions));
}

function renamed(entry: Uint8Array, from: string, to: string): Uint8Array {
  return nameOf(entry) === from ? Buffer.concat([Buffer.from(to), entry.subarray(from.length)]) : entry;
}

/** The name in a `KEY=VALUE` string; empty if there is no `=`. */
export function nameOf(entry: Uint8Array): string {
  const end = entry.indexOf(0x3d);
  return Buffer.from(entry.subarray(0, Math.max(end, 0))).toString();
}
