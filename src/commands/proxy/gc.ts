import type { Garbage } from '../../plugins/bulk/gc/garbage.ts';
import type { GcReport } from '../../plugins/bulk/gc/index.ts';
import { gcSettings } from '../../plugins/bulk/gc/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { runBulk } from '../../runtime/cli/bulk-run.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';

export default class ProxyGc extends BaseCommand {
  static override summary = 'Find, and with --delete remove, helper objects that nothing needs any more.';
  static override description =
    'Records of uploads that no longer exist, manifests that no object names, and records of rewrapped keys that no object needs. Nothing is touched that is ' +
    'younger than a day, of an upload that is still listed, or named by any version in a checked bucket.';
  static override enableJsonFlag = true;
  static override flags = flagsOf(gcSettings);
  static override examples = [
    '<%= config.bin %> proxy gc --upstream https://s3.example.eu',
    '<%= config.bin %> proxy gc --buckets photos,papers --delete',
  ];

  async run(): Promise<object | undefined> {
    const { flags } = await this.parse(ProxyGc);
    const { collectGarbage } = await import('../../plugins/bulk/gc/index.ts');
    const sources = { flags: flags as Record<string, string | boolean | undefined>, env: process.env };
    const onFound = (found: Garbage) => this.log(line(found));
    return runBulk(this, {
      start: async ({ signal }) => asReport(await collectGarbage({ sources, signal, onFound })),
      progressLine: () => '',
      reportLines: ({ objects, deleted, endedBy }) =>
        endedBy === undefined || objects > 0 ? [summary(objects, deleted)] : [],
      isComplete: () => true,
    });
  }
}

function line({ kind, bucket, keys, object, reason, modified }: Garbage): string {
  const of = object === undefined ? keys[0] : `${object.bucket}/${object.key}`;
  const objects = keys.length === 1 ? '1 object' : `${keys.length} objects`;
  return `${bucket}  ${kind}  ${JSON.stringify(of)}  ${objects}, last ${new Date(modified).toISOString()}: ${reason}`;
}

function summary(count: number, deleted: boolean): string {
  if (count === 0) return 'Nothing to collect.';
  const objects = count === 1 ? '1 helper object' : `${count} helper objects`;
  return deleted ? `Deleted ${objects}.` : `Found ${objects}; nothing was touched. Delete with --delete.`;
}

const asReport = ({ deleted, garbage, endedBy }: GcReport) => ({
  deleted,
  objects: garbage.reduce((sum, { keys }) => sum + keys.length, 0),
  garbage: garbage.map(asJson),
  endedBy,
});

const asJson = ({ object, modified, ...found }: Garbage) => ({
  ...found,
  ...(object && { object: { bucket: object.bucket, key: object.key } }),
  modified: new Date(modified).toISOString(),
});
