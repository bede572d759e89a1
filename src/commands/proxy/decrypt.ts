import { string as argument } from '@oclif/core/args';
import { boolean, string } from '@oclif/core/flags';
import { exitStatus } from '../../core/errors.ts';
import type { Counts, DecryptReport } from '../../plugins/proxy/decrypt/index.ts';
import { decryptSettings } from '../../plugins/proxy/decrypt/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';
import { createProgress, interruptible } from '../../runtime/cli/terminal.ts';

/** Between two lines of progress, in milliseconds. */
const progressMs = 100;

export default class ProxyDecrypt extends BaseCommand {
  static override summary = 'Decrypt objects of a bucket into a folder or another bucket, without the proxy.';
  static override description =
    'Reads objects and part lists from the store, has their keys unwrapped by the key server, verifies everything and writes ' +
    'the plaintext, into a folder or into another bucket, of this store or of another one. A file or an object has its name ' +
    'only once it is whole and verified. Run it again to go on: what is complete is not read again. Ends with 0 when every object came out, and with 1 when some did not, which are named at the end.';
  static override enableJsonFlag = true;
  static override args = {
    source: argument({ description: 's3://bucket, or s3://bucket/prefix', required: true }),
  };
  static override flags = {
    to: string({
      summary: 'Folder for the files, or s3://bucket/prefix',
      helpValue: '<place>',
      required: true,
    }),
    'dry-run': boolean({ summary: 'Count only; no body is read, and nothing is written' }),
    ...flagsOf(decryptSettings),
  };
  static override examples = [
    '<%= config.bin %> proxy decrypt s3://photos --to ./photos --upstream https://s3.example.eu',
    '<%= config.bin %> proxy decrypt s3://photos/2026/ --to ./2026 --dry-run',
    '<%= config.bin %> proxy decrypt s3://photos --to s3://plain/photos --to-upstream https://s3.other.eu --to-profile other',
  ];

  async run(): Promise<object | undefined> {
    const { args, flags: given } = await this.parse(ProxyDecrypt);
    const {
      to,
      'dry-run': dryRun,
      json: _,
      ...flags
    } = given as Record<string, string | boolean | undefined>;
    const { decryptObjects } = await import('../../plugins/proxy/decrypt/index.ts');
    const { reportLines, progressLine, reportJson } = await import('../../plugins/proxy/decrypt/report.ts');
    const progress = createProgress(process.stderr, process.env);
    let shownAt = 0;
    let report: DecryptReport | undefined;
    const status = await interruptible(async (signal) => {
      report = await decryptObjects({
        ...{ sources: { flags, env: process.env }, from: args.source, to: String(to) },
        ...{ dryRun: dryRun === true, signal },
        onProgress(counts: Counts) {
          if (performance.now() - shownAt < progressMs) return;
          shownAt = performance.now();
          progress.show(progressLine(counts));
        },
      });
      signal.throwIfAborted();
      return statusOf(report);
    }).finally(() => progress.clear());
    if (report === undefined) return this.exit(status);
    for (const line of reportLines(report)) this.log(line);
    if (report.endedBy !== undefined && !this.jsonEnabled()) throw report.endedBy;
    process.exitCode = status;
    return reportJson(report);
  }
}

function statusOf({ endedBy, faultCount }: DecryptReport): number {
  const { exitStatus: status = exitStatus.internal } = (endedBy ?? {}) as { exitStatus?: number };
  if (endedBy !== undefined) return status;
  return faultCount > 0 ? exitStatus.failure : 0;
}
