import { ownGoTool } from './own-go-tool.ts';

/** CoreDNS with the few plugins that the names of a cluster need. */
export const coredns = ownGoTool('coredns', '1.15.0');
