import { string as argument } from '@oclif/core/args';
import { boolean } from '@oclif/core/flags';
import { exitStatus } from '../../core/errors.ts';
import type { MigrateReport } from '../../plugins/proxy/migrate/index.ts';
import { migrateSettings } from '../../plugins/proxy/migrate/settings.ts';
import type { MigrateCounts } from '../../plugins/proxy/migrate/tally.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';
import { createProgress, interruptible } from '../../runtime/cli/terminal.ts';

/** Between two lines of progress, in milliseconds. */
const progressMs = 100;

export default class ProxyMigrate extends BaseCommand {
  static override summary = 'Encrypt objects in place, or bring them from format 1 to format 2.';
  static override description =
    'Each object is read, encrypted, written over itself on the condition that nobody has replaced it since, and read back; what ' +
    'belongs to it besides its body is kept. Older versions stay as they are, and are counted. Run it again at any time: what is ' +
    'done is left alone. Ends with 0 when everything is encrypted, older versions included, else with 1.';
  static override enableJsonFlag = true;
  static override args = {
    source: argument({ description: 's3://bucket, or s3://bucket/prefix', required: true }),
  };
  static override flags = {
    'dry-run': boolean({ summary: 'Count objects, bytes and requests only; nothing is written' }),
    'nobody-writes': boolean({
      summary: 'Nobody writes meanwhile: go on where the store holds writes to no condition',
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
    const { migrateObjects } = await import('../../plugins/proxy/migrate/index.ts');
    const { migrateReportLines, migrateProgressLine } = await import('../../plugins/proxy/migrate/report.ts');
    const { reportJson } = await import('../../plugins/proxy/decrypt/report.ts');
    const progress = createProgress(process.stderr, process.env);
    let shownAt = 0;
    let report: MigrateReport | undefined;
    const status = await interruptible(async (signal) => {
      report = await migrateObjects({
        ...{ sources: { flags, env: process.env }, at: args.source, signal },
        ...{ dryRun: dryRun === true, nobodyWrites: nobodyWrites === true },
        onProgress(counts: MigrateCounts) {
          if (performance.now() - shownAt < progressMs) return;
          shownAt = performance.now();
          progress.show(migrateProgressLine(counts));
        },
      });
      signal.throwIfAborted();
      return statusOf(report);
    }).finally(() => progress.clear());
    if (report === undefined) return this.exit(status);
    for (const line of migrateReportLines(report)) this.log(line);
    if (report.endedBy !== undefined && !this.jsonEnabled()) throw report.endedBy;
    process.exitCode = status;
    return reportJson(report);
  }
}

function statusOf({ endedBy, complete }: MigrateReport): number {
  const { exitStatus: status = exitStatus.internal } = (endedBy ?? {}) as { exitStatus?: number };
  if (endedBy !== undefined) return status;
  return complete ? 0 : exitStatus.failure;
}
