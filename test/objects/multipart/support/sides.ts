import {
  type Meddling,
  type MeddlingStore,
  type StoreRequest,
  startMeddlingStore,
} from '../../../support/meddling-store.ts';
import { type RawAnswer, rawHttp } from '../../../support/raw-http.ts';
import type { Rig, RiggedProxy } from '../../../support/rig.ts';

/** A proxy, and what happens on its way to the store. */
export interface Side {
  readonly proxy: RiggedProxy;
  readonly way: MeddlingStore;
}

/** The parts that a Complete names. */
export type List = readonly { readonly PartNumber: number; readonly ETag: string }[];

/** Proxies of one store that are ended with its rig. */
export class Sides {
  readonly #rig: Rig;
  readonly #ways: MeddlingStore[] = [];

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async start(args: readonly string[]): Promise<Side> {
    const { store } = this.#rig;
    const way = await startMeddlingStore(store.url);
    this.#ways.push(way);
    const { region, accessKeyId, secretAccessKey } = store;
    const upstream = { endpoint: way.url, region, accessKeyId, secretAccessKey };
    return { way, proxy: await this.#rig.proxy({ upstream, args }) };
  }

  async stop(): Promise<void> {
    await this.#rig.stop();
    await Promise.all(this.#ways.map((way) => way.stop()));
  }
}

export const isComplete = ({ method, path }: StoreRequest) => method === 'POST' && /[?&]uploadId=/.test(path);
export const isManifest = ({ method, path }: StoreRequest) =>
  method === 'PUT' && path.includes('/manifests/');

/** @param path of the object, with its upload id */
export function sendComplete({ proxy }: Side, path: string, list: List): Promise<RawAnswer> {
  const parts = list.map(
    ({ PartNumber, ETag }) => `<Part><PartNumber>${PartNumber}</PartNumber><ETag>${ETag}</ETag></Part>`,
  );
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  return rawHttp(`${proxy.url}/${path}`, { method: 'POST', body });
}

export interface Held {
  readonly arrived: Promise<void>;
  readonly go: () => void;
}

/** Holds the first such request on its way to the store. */
export function hold(
  { way }: Side,
  which: (request: StoreRequest) => boolean,
  then: Pick<Meddling, 'after'> = {},
): Held {
  const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held = false;
  way.meddle({
    ...then,
    before: async (request) => {
      if (held || !which(request)) return undefined;
      held = true;
      arrived.resolve();
      await gone.promise;
      return undefined;
    },
  });
  return { arrived: arrived.promise, go: () => gone.resolve() };
}

/** What a store says that does not look at the list of an upload that has ended. */
export const saysDone = (ETag: string | undefined) => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: Buffer.from(`<CompleteMultipartUploadResult><ETag>${ETag}</ETag></CompleteMultipartUploadResult>`),
});
