import { kubectl, type NodeBed } from './bed.ts';

type LogRecord = Readonly<Record<string, unknown>>;

/** What `kubectl logs` shows of a pod or workload, each line that is JSON. */
export async function logRecords(
  bed: NodeBed,
  namespace: string,
  of: string,
  ...options: string[]
): Promise<LogRecord[]> {
  const text = await kubectl(bed, 'logs', '--namespace', namespace, of, '--tail=-1', ...options);
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
}
