import { ArrayCutter } from './array-cutter.ts';
import type { KubeClient } from './client.ts';
import { KubeError } from './errors.ts';
import { asObject, isText, type KubeObject, member } from './objects.ts';
import { parseJson } from './read-body.ts';
import { acceptFor, type Selection } from './selection.ts';

/** An object is at once in memory as text and as a tree, a page is not: its length costs the API server alone. */
const pageSize = 500;
/** Objects are at most 1.5 MiB in etcd; JSON escapes add to that. */
const cutLimits = { mostOfElement: 8 * 1024 * 1024, mostOfRest: 1024 * 1024 };

/**
 * Lists page by page; each object is given to `onObject` before the next one is read.
 * @returns the version from which a watch goes on
 * @throws KubeError; what was given by then is true all the same
 */
export async function listAll<O extends KubeObject>(
  client: KubeClient,
  selection: Selection,
  onObject: (object: O) => void,
  signal: AbortSignal,
): Promise<string> {
  let next: string | undefined;
  let page: Page;
  do {
    page = await client.read(listRequest(selection, next, signal), (body) =>
      readPage(`GET ${selection.path}`, body, (item) => onObject(asObject<O>(item))),
    );
    next = page.next;
  } while (next !== undefined);
  return page.version;
}

function listRequest(selection: Selection, next: string | undefined, signal: AbortSignal) {
  const { path, fieldSelector, labelSelector } = selection;
  const query = { fieldSelector, labelSelector, limit: pageSize, continue: next };
  return { path, query, accept: acceptFor(selection, 'list'), signal };
}

interface Page {
  readonly version: string;
  readonly next: string | undefined;
}

async function readPage(
  what: string,
  body: AsyncIterable<Buffer>,
  onItem: (item: unknown) => void,
): Promise<Page> {
  const cutter = new ArrayCutter('items', cutLimits);
  for await (const chunk of body) for (const text of cutter.push(chunk)) onItem(parseJson(what, text));
  return pageOf(what, parseJson(what, cutter.rest()), cutter.count);
}

/** @param count items that were cut out of it: it has no others */
function pageOf(what: string, rest: unknown, count: number): Page {
  const { resourceVersion, continue: next } = member(rest, 'metadata');
  const items = (rest as { items?: unknown } | null)?.items ?? [];
  if (!isText(resourceVersion) || !Array.isArray(items) || items.length !== count) {
    throw new KubeError('KUBE_PROTOCOL', `${what}: the answer is no list`);
  }
  return { version: resourceVersion, next: isText(next) ? next : undefined };
}
