import { string as argument } from '@oclif/core/args';
import { boolean, string } from '@oclif/core/flags';
import { decryptSettings } from '../../plugins/bulk/decrypt/settings.ts';
import { BaseCommand } from '../../runtime/cli/base-command.ts';
import { runBulk } from '../../runtime/cli/bulk-run.ts';
import { flagsOf } from '../../runtime/cli/setting-flags.ts';

export default class ProxyDecrypt extends BaseCommand {
  static override summary = 'Decrypt objects of a bucket into a folder or another bucket, without the proxy.';
  static override description =
    'Reads objects and part lists from the store, has their keys unwrapped by the key server, verifies everything and writes ' +
    'the plaintext, into a folder or into another bucket, of this store or of another one. A file or an object has its name ' +
    'only once it is whole and verified. Run it again to resume: complete objects are not read again. Ends with 0 if every object was decrypted, else with 1 and a list of the others.';
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
    const { decryptObjects } = await import('../../plugins/bulk/decrypt/index.ts');
    const { reportLines, progressLine } = await import('../../plugins/bulk/decrypt/report.ts');
    const sources = { flags, env: process.env };
    return runBulk(this, {
      start: (run) =>
        decryptObjects({ ...run, sources, from: args.source, to: String(to), dryRun: dryRun === true }),
      progressLine,
      reportLines,
      isComplete: ({ faultCount }) => faultCount === 0,
    });
  }
}
