import { createHash } from 'node:crypto';
import { withMetadata } from './edits.ts';
import { at, text, type Vector, type Vectors } from './readable.ts';
import { segmented } from './segmented-objects.ts';
import { type StoredObject, single } from './stored-objects.ts';

const plaintext = text('named', 100);
const md5 = createHash('md5').update(plaintext).digest('base64');
const header = 'svc-md5';

const read = (about: string, object: StoredObject, expected?: string): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [object],
  expect: { plaintext, ...(expected !== undefined && { md5: expected }) },
});

const named = () => single(at('named.bin'), plaintext, { md5 });

/** The MD5 that a writer names: whoever wants the plaintext passes it over. */
export const namedMd5: Vectors = {
  'md5-single': () => read('The MD5 that the writer named, sealed.', named(), md5),
  'format-2-md5': () =>
    read('The same in format 2.', segmented(at('two-named.bin'), plaintext, { md5 }), md5),
  'md5-single-malformed': () =>
    read('Too short to be one: passed over.', withMetadata(named(), { [header]: 'A'.repeat(38) })),
  'md5-alone': () => {
    const { [header]: sealed = '' } = named().metadata;
    const object = { ...at('named.bin'), metadata: { [header]: sealed }, body: plaintext };
    return {
      ...read('The header alone makes no encrypted object.', object),
      expect: { unencrypted: plaintext },
    };
  },
};
