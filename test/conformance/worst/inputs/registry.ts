import { filled, MiB, numbered, worstJson } from './pieces.ts';
import { chunksOfOne } from './store.ts';

/** What the registry of a pod's image answers; digests are those of the content. */
export interface RegistryInput {
  readonly name: string;
  readonly manifest: (configDigest: string) => Buffer;
  /** Default: one that names a command. */
  readonly config?: () => Buffer;
  /** The manifest goes out in HTTP chunks of one byte. */
  readonly inChunksOfOne?: boolean;
}

const bytes = MiB - 1;
const ofImage = (digest: string) =>
  `"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"${digest}"}`;
const manifest = (digest: string) => Buffer.from(`{${ofImage(digest)}}`);
const index = '"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json"';
const digestOf = (at: number) =>
  `sha256:${numbered(at)
    .padStart(64, '0')
    .replace(/[^0-9a-f]/g, 'f')}`;

const manifests = Object.keys(worstJson(0)).map(
  (name): RegistryInput => ({
    name: `registry's manifest: ${name}`,
    manifest: (digest) => worstJson(bytes, `{${ofImage(digest)},"layers":`)[name]?.() ?? Buffer.alloc(0),
  }),
);
const configs = Object.entries(
  worstJson(bytes, '{"os":"linux","config":{"Entrypoint":["/a"]},"history":'),
).map(([name, config]): RegistryInput => ({ name: `registry's configuration: ${name}`, manifest, config }));

export const registryInputs: readonly RegistryInput[] = [
  ...manifests,
  ...configs,
  {
    name: "registry's index: as many images as fit",
    manifest: () =>
      filled(
        bytes,
        `{${index},"manifests":[`,
        (at) => `{"digest":"${digestOf(at)}"},`,
        `{"digest":"${digestOf(0)}"}]}`,
      ),
  },
  {
    name: "registry's configuration: as many words as fit",
    manifest,
    config: () => filled(bytes, '{"os":"linux","config":{"Entrypoint":[', '"",', '"a"]}}'),
  },
  {
    ...{ name: "registry's manifest in chunks of one byte", inChunksOfOne: true },
    manifest: (digest) => filled(bytes, `{${ofImage(digest)}`, ' ', '}'),
  },
];

export { chunksOfOne };
