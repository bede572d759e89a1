import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export const mediaTypes = {
  oci: {
    index: 'application/vnd.oci.image.index.v1+json',
    manifest: 'application/vnd.oci.image.manifest.v1+json',
    config: 'application/vnd.oci.image.config.v1+json',
    layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  },
  docker: {
    index: 'application/vnd.docker.distribution.manifest.list.v2+json',
    manifest: 'application/vnd.docker.distribution.manifest.v2+json',
    config: 'application/vnd.docker.container.image.v1+json',
    layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  },
} as const;

export type ImageFormat = keyof typeof mediaTypes;

export interface ImageOptions {
  /** Default: OCI. */
  readonly format?: ImageFormat;
  readonly os?: string;
  readonly architecture?: string;
  readonly entrypoint?: readonly string[];
  readonly cmd?: readonly string[];
  readonly user?: string;
  /** `NAME=value`. */
  readonly env?: readonly string[];
  /** The one layer, uncompressed; default: an empty one. */
  readonly tar?: Buffer;
  /** Of its compression, from 0 to 9. */
  readonly level?: number;
}

export interface Content {
  readonly bytes: Buffer;
  readonly digest: string;
  readonly mediaType: string;
}

export interface Image {
  readonly manifest: Content;
  readonly blobs: readonly Content[];
  readonly platform: { readonly os: string; readonly architecture: string };
}

export function contentOf(value: unknown, mediaType: string): Content {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
  return { bytes, mediaType, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
}

export function descriptorOf({ bytes, digest, mediaType }: Content): object {
  return { mediaType, digest, size: bytes.length };
}

/** An image with one layer. */
export function makeImage(options: ImageOptions = {}): Image {
  const { format = 'oci', os = 'linux', architecture = 'amd64', entrypoint, cmd, user, env } = options;
  const { tar = Buffer.alloc(1_024) } = options;
  const types = mediaTypes[format];
  const layer = contentOf(gzipSync(tar, { level: options.level }), types.layer);
  const config = contentOf(
    {
      ...{ os, architecture },
      config: { Entrypoint: entrypoint, Cmd: cmd, User: user, ...(env && { Env: env }) },
      rootfs: { type: 'layers', diff_ids: [contentOf(tar, '').digest] },
    },
    types.config,
  );
  const manifest = contentOf(
    {
      ...{ schemaVersion: 2, mediaType: types.manifest },
      config: descriptorOf(config),
      layers: [descriptorOf(layer)],
    },
    types.manifest,
  );
  return { manifest, blobs: [config, layer], platform: { os, architecture } };
}

/** What BuildKit puts beside an image: a statement about it, as a manifest of an unknown platform. */
export function makeAttestation(about: Image): { readonly image: Image; readonly entry: object } {
  const statement = contentOf({ _type: 'https://in-toto.io/Statement/v0.1' }, 'application/vnd.in-toto+json');
  const types = mediaTypes.oci;
  const platform = { os: 'unknown', architecture: 'unknown' };
  const config = contentOf(
    { ...platform, config: {}, rootfs: { type: 'layers', diff_ids: [] } },
    types.config,
  );
  const manifest = contentOf(
    {
      ...{ schemaVersion: 2, mediaType: types.manifest },
      config: descriptorOf(config),
      layers: [descriptorOf(statement)],
    },
    types.manifest,
  );
  const annotations = {
    'vnd.docker.reference.type': 'attestation-manifest',
    'vnd.docker.reference.digest': about.manifest.digest,
  };
  return {
    image: { manifest, blobs: [config, statement], platform },
    entry: { ...descriptorOf(manifest), platform, annotations },
  };
}

export function makeIndex(entries: readonly object[], format: ImageFormat = 'oci'): Content {
  const mediaType = mediaTypes[format].index;
  return contentOf({ schemaVersion: 2, mediaType, manifests: entries }, mediaType);
}

export function entryOf({ manifest, platform }: Image): object {
  return { ...descriptorOf(manifest), platform };
}
