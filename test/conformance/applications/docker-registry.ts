import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startRegistry } from '../../support/registry.ts';
import { contentOf } from '../../support/registry-images.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { bytesOf } from '../support/payload.ts';
import type { Application, Place } from './application.ts';
import { commandOf, runIn, versionOf } from './programs.ts';

/** Above the driver's parts of 5 MiB here. */
const layerBytes = 14_000_000;

/** Images in a bucket: pushed in parts, pulled after a restart, and with every digest checked by the one who pulls. */
export const dockerRegistry: Application = {
  ...{ name: 'docker-registry', title: 'Docker registry (S3 driver)' },
  async prepare() {
    await requireTool('skopeo');
    return versionOf('docker-registry');
  },
  async run(place) {
    const registry = await startRegistry({ storage: storage(place) });
    try {
      const image = await registry.push('shop/web', 'v1', { tar: bytesOf('layer', layerBytes) });
      await registry.push('shop/web', 'v2', { tar: bytesOf('other layer', 1_000) });
      await registry.pause();
      await registry.resume();
      const skopeo = await commandOf('skopeo');
      const copy = (...args: string[]) => runIn(place, skopeo, ['--insecure-policy', 'copy', ...args]);
      const source = `docker://${registry.host}/shop`;
      await copy('--src-tls-verify=false', `${source}/web:v1`, 'dir:pulled');
      assertPulled(
        join(place.folder, 'pulled'),
        [image.manifest, ...image.blobs].map(({ digest }) => digest),
      );
      // mounts the blobs of the other repository
      await copy(
        '--src-tls-verify=false',
        '--dest-tls-verify=false',
        `${source}/web:v1`,
        `${source}/copy:v1`,
      );
      const inspected = await runIn(place, skopeo, ['inspect', '--tls-verify=false', `${source}/copy:v1`]);
      const { Digest } = JSON.parse(inspected);
      if (Digest !== image.manifest.digest)
        throw new Error(`the copy is ${Digest}, not ${image.manifest.digest}`);
      const tags = JSON.parse(
        await runIn(place, skopeo, ['list-tags', '--tls-verify=false', `${source}/web`]),
      );
      if (`${tags.Tags}` !== 'v1,v2') throw new Error(`the tags are ${tags.Tags}`);
      await runIn(place, skopeo, ['delete', '--tls-verify=false', `${source}/copy:v1`]);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${registry.logs().slice(-2_000)}`);
    } finally {
      await registry.stop();
    }
  },
};

function storage({ target, bucket }: Place): Record<string, unknown> {
  return {
    s3: {
      ...{ accesskey: target.accessKeyId, secretkey: target.secretAccessKey, region: target.region, bucket },
      ...{ regionendpoint: target.endpoint, secure: false, v4auth: true, chunksize: 5 * 1024 ** 2 },
      rootdirectory: '/registry',
    },
    delete: { enabled: true },
    redirect: { disable: true },
  };
}

/** skopeo leaves each blob in a file that its digest names, and the manifest in one of its own. */
function assertPulled(folder: string, digests: readonly string[]): void {
  const found = readdirSync(folder).map((name) => contentOf(readFileSync(join(folder, name)), '').digest);
  const missing = digests.filter((digest) => !found.includes(digest));
  if (missing.length > 0) throw new Error(`pulled without ${missing.join(', ')}`);
}
