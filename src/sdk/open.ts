import { closeSync, fstatSync } from 'node:fs';
import { exitStatus, messageOf, SvcError } from '../runtime/errors.ts';
import { NativeError } from '../runtime/native/libc.ts';
import { mapDescriptor } from '../runtime/native/memory.ts';
import {
  type MappedRegion,
  MappedStore,
  type ProcessEnvironment,
  required,
  variableOf,
} from './mapped-store.ts';
import type { Store } from './store.ts';

export interface OpenOptions {
  /** Default: process.env. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Default: process.platform. */
  platform?: string;
}

const variable = 'SVC_SECRET_FD';
const wrapIt = `Start the program under svc-wrapper, leave ${variable} as the wrapper has set it, and open the store once per process.`;
const raiseLimit = 'Raise the memory-lock limit (ulimit -l): secret pages count against it.';
const largestDescriptor = 0x7fffffff;

/**
 * Opens the secrets that svc-wrapper has handed over, once per process: the descriptor is closed after mapping.
 * Without `SVC_SECRET_FD`, or on systems other than Linux, returns a nil store, which reads the environment.
 * @throws SvcError SECRET_FD_INVALID when the variable is not a descriptor number, SECRET_FD_UNUSABLE when the
 *   descriptor is not open, not secret memory or cannot be mapped
 */
export function open(options: OpenOptions = {}): Store {
  const { environment = process.env, platform = process.platform } = options;
  const value = environment[variable];
  if (platform !== 'linux' || value === undefined || value === '') return nilStore(environment);
  const descriptor = descriptorNumber(value);
  const store = new MappedStore(map(descriptor), environment);
  closeSync(descriptor);
  return store;
}

/** The store of a program that was not started under the wrapper: reads the environment. */
function nilStore(environment: ProcessEnvironment): Store {
  return {
    state: 'nil',
    get: (key) => variableOf(environment, key),
    mustGet: (key) => required(key, variableOf(environment, key)),
    has: (key) => variableOf(environment, key) !== '',
    keys: () => undefined,
    view: () => undefined,
    close: () => undefined,
  };
}

function descriptorNumber(value: string): number {
  const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (number <= largestDescriptor) return number;
  throw failure(
    'SECRET_FD_INVALID',
    `${variable}=${JSON.stringify(value)} is not a descriptor number`,
    wrapIt,
  );
}

function map(descriptor: number): MappedRegion {
  try {
    if (fstatSync(descriptor).size === 0) throw new Error('it is empty');
    return mapDescriptor(descriptor);
  } catch (cause) {
    const nextStep = cause instanceof NativeError ? raiseLimit : wrapIt;
    throw failure(
      'SECRET_FD_UNUSABLE',
      `${variable}=${descriptor} cannot be mapped: ${messageOf(cause)}`,
      nextStep,
      cause,
    );
  }
}

/** The next step is part of the message as well, because programs usually print only an error's message. */
function failure(code: string, what: string, nextStep: string, cause?: unknown): SvcError {
  return new SvcError(code, `${what}. ${nextStep}`, { nextStep, exitStatus: exitStatus.config, cause });
}
