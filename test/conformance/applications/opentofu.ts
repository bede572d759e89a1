import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../support/run-command.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Application, Place } from './application.ts';
import { commandOf, environment, runIn, versionOf } from './programs.ts';

/** State in a bucket with a lock file: applied, changed, kept from a second writer, destroyed. */
export const openTofu: Application = {
  ...{ name: 'opentofu', title: 'OpenTofu (S3 backend with lock file)' },
  prepare: () => versionOf('opentofu'),
  async run(place) {
    const command = await commandOf('opentofu', 'tofu');
    const env = { TF_CLI_CONFIG_FILE: join(place.folder, 'settings'), TF_IN_AUTOMATION: '1' };
    const run = (...args: string[]) => runIn(place, command, args, { env });
    writeFileSync(join(place.folder, 'main.tf'), configuration(place));
    writeFileSync(env.TF_CLI_CONFIG_FILE, '');
    await run('init', '-input=false');
    await run('apply', '-auto-approve', '-input=false', '-var=word=one');
    await assertOutput(run, 'one');
    await run('apply', '-auto-approve', '-input=false', '-var=word=two');
    await assertOutput(run, 'two');
    const noChange = await run('plan', '-input=false', '-detailed-exitcode', '-var=word=two');
    if (!noChange.includes('No changes')) throw new Error(`a second plan changes:\n${noChange}`);

    await assertLocked(place, command, env);
    await run('workspace', 'new', 'other');
    await run('workspace', 'select', 'default');
    await run('workspace', 'delete', 'other');
    await run('destroy', '-auto-approve', '-input=false', '-var=word=two');
    const left = await run('state', 'list');
    if (left !== '') throw new Error(`after destroy there is left:\n${left}`);
  },
};

const configuration = ({ bucket, target }: Place): string => `
terraform {
  backend "s3" {
    bucket                      = "${bucket}"
    key                         = "states/shop.tfstate"
    region                      = "${target.region}"
    use_lockfile                = true
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    endpoints                   = { s3 = "${target.endpoint}" }
  }
}
variable "word" { type = string }
variable "hold" {
  type    = bool
  default = false
}
resource "terraform_data" "items" {
  count = 200
  input = "\${var.word} \${count.index}"
}
resource "terraform_data" "slow" {
  count = var.hold ? 1 : 0
  provisioner "local-exec" { command = "touch held && while [ ! -e go ]; do sleep 0.1; done" }
}
output "last" { value = terraform_data.items[199].output }
`;

type Run = (...args: string[]) => Promise<string>;

async function assertOutput(run: Run, word: string): Promise<void> {
  const last = await run('output', '-raw', 'last');
  if (last !== `${word} 199`) throw new Error(`the state says ${last}, not ${word} 199`);
}

/** While one run holds the lock, another one is refused and names it. */
async function assertLocked(place: Place, command: string, env: Record<string, string>): Promise<void> {
  const apply = ['apply', '-auto-approve', '-input=false', '-var=word=two'];
  const holder = runIn(place, command, [...apply, '-var=hold=true'], { env });
  try {
    await Promise.race([waitFor('the lock', () => existsSync(join(place.folder, 'held'))), holder]);
    const other = await runCommand(command, apply, place.folder, { env: { ...environment(place), ...env } });
    if (other.status !== 1 || !other.stderr.includes('Error acquiring the state lock'))
      throw new Error(`a second writer ended with ${other.status}: ${other.stdout}${other.stderr}`);
  } finally {
    writeFileSync(join(place.folder, 'go'), '');
    await holder;
  }
}
