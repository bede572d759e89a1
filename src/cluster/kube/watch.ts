import type { Readable } from 'node:stream';
import { CollectedBytes } from '../../runtime/bounds/collect.ts';
import { isSpace } from '../../runtime/bounds/json-document.ts';
import {
  asObject,
  failureOf,
  isText,
  type KubeClient,
  KubeError,
  type KubeObject,
  member,
} from './client.ts';
import { acceptFor, largestObject, type Selection } from './list.ts';
import { outlineOfEvent, type ReadJson, readJson } from './read-object.ts';

/** An object and its event. */
const longestLine = largestObject + 1_024;

export interface WatchHandlers<O> {
  /** The API server has accepted the watch. */
  onOpen(): void;
  onPut(object: O): void;
  /** The same with the outline of an object that is too large to be built; without it, such an object is built. */
  onPutOutline?(outline: O): void;
  /** With the object, or its outline. */
  onRemove(object: O): void;
  /** After each event, including bookmarks: the version to continue from. */
  onVersion(version: string): void;
}

export interface WatchLimits {
  /** The API server is asked to end the watch after this time. */
  readonly timeoutMs: number;
  /** Time after that at which the watch is given up: a silently broken connection never ends by itself. */
  readonly slackMs: number;
}

/**
 * Watches from a version until the API server ends the watch at its regular time.
 * @throws KubeError: KUBE_GONE if the version is too old; KUBE_UNAVAILABLE if the connection is lost or silent
 */
export async function watch<O extends KubeObject>(
  client: KubeClient,
  selection: Selection,
  version: string,
  handlers: WatchHandlers<O>,
  { timeoutMs, slackMs }: WatchLimits,
  signal: AbortSignal,
): Promise<void> {
  const stream = await client.stream(watchRequest(selection, version, timeoutMs, signal));
  handlers.onOpen();
  const silent = new KubeError('KUBE_UNAVAILABLE', `The watch of ${selection.path} was not ended in time`);
  const timer = setTimeout(() => stream.destroy(silent), timeoutMs + slackMs);
  try {
    await follow(stream, selection.path, handlers);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof KubeError ? error : lost(selection.path, error);
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
}

function watchRequest(selection: Selection, version: string, timeoutMs: number, signal: AbortSignal) {
  const { path, fieldSelector, labelSelector } = selection;
  const query = {
    ...{ watch: true, allowWatchBookmarks: true, resourceVersion: version },
    ...{ fieldSelector, labelSelector, timeoutSeconds: Math.max(1, Math.ceil(timeoutMs / 1_000)) },
  };
  return { path, query, accept: acceptFor(selection, 'watch'), signal };
}

function lost(path: string, cause: unknown): KubeError {
  return new KubeError('KUBE_UNAVAILABLE', `The watch of ${path} was lost`, { cause });
}

async function follow<O extends KubeObject>(
  stream: Readable,
  path: string,
  handlers: WatchHandlers<O>,
): Promise<void> {
  const what = `watch of ${path}`;
  const large = handlers.onPutOutline === undefined ? 'whole' : 'outlined';
  for await (const line of readLines(stream, longestLine)) {
    handleEvent(readJson(what, line, outlineOfEvent, large), path, handlers);
  }
}

function handleEvent<O extends KubeObject>(
  { value, isOutline }: ReadJson,
  path: string,
  handlers: WatchHandlers<O>,
): void {
  const { type, object } = (value ?? {}) as { type?: unknown; object?: unknown };
  if (type === 'ERROR') throw failed(path, object);
  if (type === 'BOOKMARK') return bookmark(object, handlers);
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
    throw new KubeError('KUBE_PROTOCOL', `watch of ${path}: an event of no known type`);
  }
  const subject = asObject<O>(object);
  if (type === 'DELETED') handlers.onRemove(subject);
  else if (isOutline) handlers.onPutOutline?.(subject);
  else handlers.onPut(subject);
  handlers.onVersion(subject.metadata.resourceVersion);
}

function bookmark<O>(object: unknown, handlers: WatchHandlers<O>): void {
  const { resourceVersion } = member(object, 'metadata');
  if (isText(resourceVersion)) handlers.onVersion(resourceVersion);
}

function failed(path: string, status: unknown): KubeError {
  const code = Number((status as { code?: unknown } | null)?.code);
  return failureOf(`watch of ${path}`, Number.isInteger(code) ? code : 500, JSON.stringify(status) ?? '');
}

const newline = 0x0a;

/**
 * Lines of a stream without line ends, each valid until the next; empty lines and an unterminated last line are skipped.
 * @throws KubeError KUBE_PROTOCOL for a line of more than `maxBytes`
 */
export async function* readLines(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let held: CollectedBytes | undefined;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      refuseOver(maxBytes, (held?.size ?? 0) + end - from);
      const rest = chunk.subarray(from, end);
      held?.add(rest);
      const line = held?.take() ?? rest;
      [held, from] = [undefined, end + 1];
      if (!line.every(isSpace)) yield line;
    }
    if (from === chunk.length) continue;
    held ??= new CollectedBytes();
    refuseOver(maxBytes, held.size + chunk.length - from);
    held.add(chunk.subarray(from));
  }
}

function refuseOver(maxBytes: number, size: number): void {
  if (size > maxBytes) throw new KubeError('KUBE_PROTOCOL', `A line of a watch has over ${maxBytes} bytes`);
}
