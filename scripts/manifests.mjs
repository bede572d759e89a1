/**
 * Renders the chart without Helm's release: without arguments into manifests/plain/svc.yaml, with options of
 * `helm template` (values of one's own) to standard output. Needs Helm 3 on the PATH, or its path in HELM.
 */
import { writeFileSync } from 'node:fs';
import { PLAIN, renderPlain } from './lib/manifests.mjs';
import { inRoot } from './lib/paths.mjs';

const options = process.argv.slice(2);
const text = renderPlain(process.env['HELM'] ?? 'helm', options);
if (options.length > 0) process.stdout.write(text);
else writeFileSync(inRoot(PLAIN), text);
