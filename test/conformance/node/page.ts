import { typeInstallPage } from '../../docs/guides/install-page.ts';
import type { Report } from '../part.ts';
import type { NodeBed } from './bed.ts';

/** More than `svc validate` and helm wait for anything. */
const LONGEST_MS = 900_000;

/** Types blocks of docs/INSTALL.md; each line is a check, and those behind one that fails are not typed. */
export async function typePage(
  { kubeconfig, folder, outsideCa }: NodeBed,
  report: Report,
  ...blocks: readonly string[]
): Promise<void> {
  const administrator = { kubeconfig, folder, authority: outsideCa, longestMs: LONGEST_MS };
  for (const { command, output, status } of await typeInstallPage(administrator, ...blocks))
    report.check(`$ ${command.replaceAll(/\s*\\\n\s*/g, ' ')}`, status === 0, output);
}
