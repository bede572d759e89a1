import { string as argument } from '@oclif/core/args';
import { boolean } from '@oclif/core/flags';
import { rewrapSettings } from '../../plugins/bulk/rewrap/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { runBulk } from '../../runtime/cli/bulk-run.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';

export default class ProxyRewrap extends BaseCommand {
  static override summary =
    'Wrap the data keys of stored objects by the latest version of the transit key, or by another key.';
  static override description =
    'No body is read or written. New keys go into the headers by a copy in the store, if the store enforces conditions on copies ' +
    'and keeps no versions; otherwise, and for older versions, into records beside the objects, which proxies find. Run it again at ' +
    'any time: completed work is skipped. Ends with 0 if nothing needs an older version or another key any more, else with 1.';
  static override enableJsonFlag = true;
  static override args = {
    source: argument({ description: 's3://bucket, or s3://bucket/prefix', required: true }),
  };
  static override flags = {
    'dry-run': boolean({ summary: 'Count only; nothing is wrapped or written' }),
    ...flagsOf(rewrapSettings),
  };
  static override examples = [
    '<%= config.bin %> proxy rewrap s3://photos --upstream https://s3.example.eu',
    '<%= config.bin %> proxy rewrap s3://photos/2026/ --to-key photos --dry-run',
  ];

  async run(): Promise<object | undefined> {
    const { args, flags: given } = await this.parse(ProxyRewrap);
    const { 'dry-run': dryRun, json: _, ...flags } = given as Record<string, string | boolean | undefined>;
    const { rewrapObjects } = await import('../../plugins/bulk/rewrap/index.ts');
    const { rewrapReportLines, rewrapProgressLine } = await import('../../plugins/bulk/rewrap/report.ts');
    const sources = { flags, env: process.env };
    return runBulk(this, {
      start: (run) => rewrapObjects({ ...run, sources, at: args.source, dryRun: dryRun === true }),
      progressLine: rewrapProgressLine,
      reportLines: rewrapReportLines,
      isComplete: ({ complete }) => complete,
    });
  }
}
