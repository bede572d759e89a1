import { collect } from '../../core/collect.ts';
import { KubeError } from './errors.ts';

/** The whole body as text. @throws KubeError KUBE_PROTOCOL when it has more than `maxBytes` */
export async function readBody(what: string, body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const tooLong = () => new KubeError('KUBE_PROTOCOL', `${what}: the answer has over ${maxBytes} bytes`);
  return (await collect(body, maxBytes, tooLong)).toString('utf8');
}

/** @throws KubeError KUBE_PROTOCOL when the text is no JSON */
export function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('KUBE_PROTOCOL', `${what}: the answer is no JSON`, { cause });
  }
}
