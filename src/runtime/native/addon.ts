import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitStatus, SvcError } from '../../core/errors.ts';

/** An opaque pointer of ffi-rs. */
export type External = object & { readonly __external?: never };

/** The part of ffi-rs's compiled module that is used here. */
export interface Addon {
  open(library: { library: string; path: string }): void;
  load(call: {
    library: string;
    funcName: string;
    retType: number;
    paramsType: readonly number[];
    paramsValue: readonly unknown[];
    freeResultMemory: boolean;
    errno: boolean;
  }): unknown;
  createExternalBuffer(pointer: External, length: number): Buffer;
}

let loaded: Addon | undefined;

/**
 * ffi-rs's compiled module, loaded at the first call. Its index.js is passed over: it costs 6 ms, the module 1 ms.
 * @throws SvcError NATIVE_UNSUPPORTED (exit 71) on a platform that it is not built for
 */
export function addon(): Addon {
  loaded ??= load();
  return loaded;
}

function load(): Addon {
  const module = { exports: {} as Addon };
  const failures: unknown[] = [];
  for (const path of candidates()) {
    try {
      process.dlopen(module, path);
      module.exports.open({ library: 'c', path: '' });
      return module.exports;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new SvcError('NATIVE_UNSUPPORTED', `No native calls on ${process.platform} ${process.arch}`, {
    nextStep: 'Run on Linux (x64 or arm64), with the optional packages of ffi-rs installed.',
    exitStatus: exitStatus.system,
    cause: failures[0],
  });
}

/** Beside the bundle in the self-contained folder, else in the packages; the one of the other C library fails to load. */
function* candidates(): Generator<string> {
  if (process.platform !== 'linux') return;
  const here = import.meta.url;
  const folder = here.startsWith('file:') ? dirname(fileURLToPath(here)) : dirname(here);
  const beside = join(folder, 'ffi-rs.node');
  if (existsSync(beside)) yield beside;
  const ours = createRequire(here);
  for (const libc of ['gnu', 'musl']) {
    const name = `linux-${process.arch}-${libc}`;
    const found = resolved(ours, `@yuuang/ffi-rs-${name}/ffi-rs.${name}.node`);
    if (found !== undefined) yield found;
  }
}

function resolved(ours: NodeJS.Require, request: string): string | undefined {
  for (const from of [() => ours, () => createRequire(ours.resolve('ffi-rs'))]) {
    try {
      return from().resolve(request);
    } catch {
      // the next place
    }
  }
  return undefined;
}
