import { string } from '@oclif/core/flags';
import type { PolicyConflict } from '../plugins/netpol/generate.ts';
import { netpolSettings } from '../plugins/netpol/settings.ts';
import { asCheckError, BaseCommand } from '../runtime/cli/base-command.ts';
import { flagsOf, joined, repeatableFlagsOf } from '../runtime/cli/setting-flags.ts';
import { createProgress, painter } from '../runtime/cli/terminal.ts';
import { printable } from '../runtime/report/report-text.ts';

const { vaultAddress, flavor, noCluster, ...repeatable } = netpolSettings;

export default class Netpol extends BaseCommand {
  static override summary = 'Write network policies: protected pods reach what they need and nothing else.';
  static override description =
    'Standard output is YAML for kubectl apply -f -; warnings are on standard error. The policies are those ' +
    'that the operator maintains: to the secrets server, the API server, DNS and what ServiceConfigs add. Reads the ' +
    'cluster of KUBECONFIG, of the pod that it runs in or of ~/.kube/config; without a cluster, flags name everything.\n\n' +
    'Exit status: 0; 3 for wrong flags or an untrusted certificate, 4 if the cluster cannot be read.';
  static override enableJsonFlag = true;
  static override flags = {
    ...flagsOf({ vaultAddress }),
    ...repeatableFlagsOf(repeatable),
    ...flagsOf({ flavor, noCluster }),
    config: string({ summary: 'YAML file with settings [SVC_CONFIG]', helpValue: '<file>' }),
  };
  static override examples = [
    '<%= config.bin %> netpol --vault-address https://vault.example.eu:8200 | kubectl apply -f -',
    '<%= config.bin %> netpol --vault-address https://vault.example.eu --no-cluster --namespace shop --api-server 10.96.0.1:443 --api-server 192.0.2.10:6443',
    '<%= config.bin %> netpol --vault-address https://vault.example.eu --allow db.example.eu:5432 --flavor cilium',
  ];

  async run(): Promise<object> {
    const { flags } = await this.parse(Netpol);
    const { writePolicies } = await import('../plugins/netpol/index.ts');
    const progress = createProgress(process.stderr, process.env);
    try {
      const { config: configFile, ...given } = flags;
      const sources = { flags: joined(given), env: process.env, configFile };
      const { yaml, policies, warnings, findings } = await writePolicies(sources, progress.show);
      progress.clear();
      if (!this.jsonEnabled()) this.tell(warnings, findings);
      if (!this.jsonEnabled()) process.stdout.write(yaml);
      return { policies, warnings, findings };
    } finally {
      progress.clear();
    }
  }

  protected override async catch(error: Error): Promise<void> {
    return super.catch(asCheckError(error));
  }

  private tell(warnings: readonly string[], findings: readonly PolicyConflict[]): void {
    const paint = painter(process.stderr, process.env);
    for (const text of [...findings.map(({ message }) => message), ...warnings]) {
      process.stderr.write(`${paint('yellow', 'Warning:')} ${printable(text)}\n`);
    }
  }
}
