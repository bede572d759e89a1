import { Document, visit } from 'yaml';
import { createKubeClient } from '../../cluster/kube/create-client.ts';
import { sectionOfFile } from '../../runtime/component/read-config.ts';
import { resolveSettings, type Sources } from '../../runtime/settings/resolve.ts';
import { type Generated, generatePolicies } from './generate.ts';
import { netpolSettings } from './settings.ts';

export interface WrittenPolicies extends Generated {
  /** The policies, for `kubectl apply -f -`. */
  readonly yaml: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The egress policies for the cluster that the environment names, or from flags alone.
 * @throws SvcError CONFIG_INVALID for wrong or missing flags, others if the cluster cannot be read
 */
export async function writePolicies(
  { configFile, ...given }: Sources & { readonly env: Env; readonly configFile?: string | undefined },
  onProgress: (text: string) => void,
): Promise<WrittenPolicies> {
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

/**
 * Documents for `kubectl apply -f -`. Strings with another meaning in YAML 1.1 or 1.2 are quoted, because parsers mix
 * the two. Lines are not folded, and there are no aliases.
 */
export function yamlDocuments(objects: readonly object[]): string {
  return objects.map(documentOf).join('---\n');
}

function documentOf(object: object): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, scalar) {
      if (isOctal(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The only kind of number that exists in YAML 1.2 but not in 1.1. */
function isOctal(value: unknown): boolean {
  return typeof value === 'string' && /^0o[0-7]+$/.test(value);
}
