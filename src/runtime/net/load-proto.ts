import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { packageFolder } from '../component/package-folder.ts';

/**
 * Loads for example `svc.agent.v1.NodeAgent` in `svc/agent/v1/node_agent.proto`, below the package's folder `proto`.
 * Messages have camelCase fields; 64-bit integers and enum names are text; an absent field has its default: null for a
 * message, [] for a repeated field, and no member for an `optional` one.
 */
export async function loadProtoService(file: string, service: string): Promise<ServiceDefinition> {
  // once bundled, a CommonJS package has only its default export
  const { default: loader } = await import('@grpc/proto-loader');
  const definition = await loader.load(file, {
    includeDirs: [fileURLToPath(new URL('proto/', packageFolder()))],
    longs: String,
    enums: String,
    defaults: true,
  });
  const found = definition[service];
  if (found === undefined || 'format' in found) throw new Error(`${file} has no service ${service}`);
  return found;
}
