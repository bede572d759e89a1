import { string as argument } from '@oclif/core/args';
import { boolean } from '@oclif/core/flags';
import { migrateSettings } from '../../plugins/bulk/migrate/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { runBulk } from '../../runtime/cli/bulk-run.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';

export default class ProxyMigrate extends BaseCommand {
  static override summary = 'Encrypt objects in place, or bring them from format 1 to format 2.';
  static override description =
    'Each object is read, encrypted, written over itself on the condition that nobody has replaced it since, and read back; its ' +
    'metadata, tags and ACL are kept. Older versions stay as they are, and are counted. Run it again at any time: completed ' +
    'work is skipped. Ends with 0 if everything is encrypted, older versions included, else with 1.';
  static override enableJsonFlag = true;
  static override args = {
    source: argument({ description: 's3://bucket, or s3://bucket/prefix', required: true }),
  };
  static override flags = {
    'dry-run': boolean({ summary: 'Count objects, bytes and requests only; nothing is written' }),
    'nobody-writes': boolean({
      summary: 'Nobody else writes: continue even if the store ignores conditions on writes',
    }),
    ...flagsOf(migrateSettings),
  };
  static override examples = [
    '<%= config.bin %> proxy migrate s3://photos --upstream https://s3.example.eu --dry-run',
    '<%= config.bin %> proxy migrate s3://photos/2026/ --format 2',
  ];

  async run(): Promise<object | undefined> {
    const { args, flags: given } = await this.parse(ProxyMigrate);
    const {
      'dry-run': dryRun,
      'nobody-writes': nobodyWrites,
      json: _,
      ...flags
    } = given as Record<string, string | boolean | undefined>;
    const { migrateObjects } = await import('../../plugins/bulk/migrate/index.ts');
    const { migrateReportLines, migrateProgressLine } = await import('../../plugins/bulk/migrate/report.ts');
    const sources = { flags, env: process.env };
    const wanted = { dryRun: dryRun === true, nobodyWrites: nobodyWrites === true };
    return runBulk(this, {
      start: (run) => migrateObjects({ ...run, ...wanted, sources, at: args.source }),
      progressLine: migrateProgressLine,
      reportLines: migrateReportLines,
      isComplete: ({ complete }) => complete,
    });
  }
}
