import { boolean, option, string } from '@oclif/core/flags';
import { storeSettings } from '../objects/upstream/store-settings.ts';
import { CheckCommand } from '../runtime/cli/base-command.ts';
import { flagsOf } from '../runtime/cli/setting-flags.ts';
import { failOns } from '../runtime/report/check-outcome.ts';

const ofCluster = { helpGroup: 'CLUSTER' };
const ofBucket = { helpGroup: 'BUCKET', dependsOn: ['bucket'] };

export default class Audit extends CheckCommand {
  static override summary =
    'Report how well workloads are protected, or which objects of a bucket are encrypted.';
  static override description =
    'Shows the protection score of every workload, what is missing and how to get it, as the operator scores it. ' +
    'With --bucket, it examines the metadata of every object instead; no body is read. Nothing is changed. ' +
    'Filters change what is shown, never a score or the exit status: 0 passed, 1 failed (--min-score, --fail-on), ' +
    '2 only warnings under --fail-on warning, 3 wrong usage or configuration, 4 could not be evaluated.';
  static override flags = {
    output: option({ options: ['table', 'json', 'sarif', 'html'] as const })({
      char: 'o',
      summary: 'Format of the report; html: one page for a browser, of a cluster',
      default: 'table',
    }),
    json: boolean({ summary: 'The same as -o json', exclusive: ['output'] }),
    'fail-on': option({ options: failOns })({ summary: 'Findings that make it fail', default: 'none' }),
    'min-score': string({ ...ofCluster, summary: 'Fail if a workload scores less', helpValue: '<0-100>' }),
    scope: option({ options: ['all', 'asking'] as const })({
      ...ofCluster,
      summary: 'Audit all workloads, or only those that ask for protection or whose namespace does',
      default: 'all',
    }),
    namespace: string({ ...ofCluster, char: 'n', multiple: true, summary: 'Show these namespaces only' }),
    kind: string({ ...ofCluster, multiple: true, summary: 'Show these kinds only, such as Deployment' }),
    below: string({ ...ofCluster, summary: 'Show workloads with a lower score only', helpValue: '<0-100>' }),
    watch: boolean({
      ...ofCluster,
      char: 'w',
      summary: 'Keep running, and show what changes',
      exclusive: ['bucket'],
    }),
    'operator-namespace': string({
      ...ofCluster,
      summary: 'Where the operator runs',
      default: 'svc-system',
    }),
    bucket: string({ helpGroup: 'BUCKET', summary: 'Audit this bucket and not the cluster' }),
    prefix: string({ ...ofBucket, summary: 'Only objects whose keys begin with this' }),
    sample: string({
      ...ofBucket,
      summary: 'Examine this many objects, chosen at random, and estimate the rest',
      helpValue: '<1-100000>',
    }),
    list: string({
      ...ofBucket,
      summary: 'Keys to list for each kind of finding, at most [default 20]',
      helpValue: '<0-10000>',
    }),
    concurrency: string({ ...ofBucket, summary: 'Requests at a time [default 16]', helpValue: '<1-64>' }),
    resume: string({
      ...ofBucket,
      summary: 'Save the progress in this file, and resume from it',
      helpValue: '<file>',
      exclusive: ['sample'],
    }),
    ...flagsOf(storeSettings, 'BUCKET'),
    config: string({
      helpGroup: 'BUCKET',
      summary: 'YAML file with settings [SVC_CONFIG]',
      helpValue: '<file>',
    }),
  };
  static override examples = [
    '<%= config.bin %> audit',
    '<%= config.bin %> audit --below 50 --namespace shop',
    '<%= config.bin %> audit --scope asking --min-score 50 -o sarif > svc.sarif',
    '<%= config.bin %> audit -o html > protection.html',
    '<%= config.bin %> audit --bucket photos --upstream https://s3.example.eu --fail-on error',
    '<%= config.bin %> audit --bucket photos --resume photos.audit --json',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Audit);
    const { audit } = await import('../plugins/audit/index.ts');
    const bucketAudit = async () => (await import('../plugins/bulk/audit/index.ts')).auditBucket;
    const { env, stdout, stderr } = process;
    this.exit(await audit({ flags, env, stdout, stderr, version: this.config.version }, bucketAudit));
  }
}
