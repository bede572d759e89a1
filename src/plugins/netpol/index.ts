import type { Sources } from '../../core/settings/origin.ts';
import { resolveSettings } from '../../core/settings/resolve.ts';
import { sectionOfFile } from '../../runtime/config/load-file.ts';
import { createKubeClient } from '../../runtime/kube/create-client.ts';
import { type Generated, generatePolicies } from './generate.ts';
import { netpolSettings } from './settings.ts';
import { yamlDocuments } from './yaml.ts';

export interface Written extends Generated {
  /** The policies, for `kubectl apply -f -`. */
  readonly yaml: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The egress policies of the cluster that the environment names, or of what flags name alone.
 * @throws SvcError CONFIG_INVALID where flags are wrong or missing, others where the cluster cannot be read
 */
export async function writePolicies(
  { configFile, ...given }: Sources & { readonly env: Env; readonly configFile?: string | undefined },
  onProgress: (text: string) => void,
): Promise<Written> {
  const file = await sectionOfFile(configFile, given.env, 'netpol', netpolSettings);
  const sources = { ...given, file };
  const settings = resolveSettings(netpolSettings, sources);
  const client = settings.noCluster ? undefined : await createKubeClient(sources.env);
  const { signal } = new AbortController();
  try {
    const generated = await generatePolicies({ settings, client, onProgress, signal });
    return { ...generated, yaml: yamlDocuments(generated.policies) };
  } finally {
    client?.close();
  }
}
