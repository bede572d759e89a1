import { refusal } from '../upstream/refusal.ts';
import { BlockPool } from './body/block-pool.ts';
import { VerifyBudget } from './body/verify-budget.ts';
import { describe } from './describe.ts';
import { versionQuery } from './fetch-stored.ts';
import { loadLayout } from './layout.ts';
import type { ObjectAddress, ObjectReader } from './object-reader.ts';
import { Plaintext } from './plaintext.ts';
import { preconditionOf } from './precondition.ts';
import type { ReaderParts } from './reader-parts.ts';
import { Spool } from './spool/spool.ts';

/** The reader of one proxy process; it owns the memory and the disk that verifying takes. */
export function createObjectReader(parts: ReaderParts): ObjectReader {
  const { config, upstream, manifests } = parts;
  const budget = new VerifyBudget(config.verifyBudget);
  const pool = new BlockPool(config.verifyBudget);
  const spool = new Spool({ folder: config.spoolDir, space: parts.spoolSpace });
  const plaintext = new Plaintext(parts, { config, budget, pool, spool });
  return {
    stat: async (name, { versionId, headers, access = {}, signal }) => {
      const address: ObjectAddress = { name, versionId, access };
      const response = await upstream.send({
        method: 'HEAD',
        ...name,
        query: versionQuery(address),
        headers: { ...access, ...headers },
        ...(signal ? { signal } : {}),
      });
      if (response.status !== 200) throw preconditionOf(await refusal(response));
      response.body.resume();
      return describe(config, address, response.headers);
    },
    describe: (address, headers) => describe(config, address, headers),
    layout: (object, signal) => loadLayout(manifests, object, signal),
    decrypt: (object, layout, response, options) => plaintext.arriving(object, layout, response, options),
    plaintext: (object, layout, range, options) => plaintext.fetched(object, layout, range, options),
    verifySize: (object, layout, options) => plaintext.verifySize(object, layout, options),
    close: () => spool.close(),
  };
}
