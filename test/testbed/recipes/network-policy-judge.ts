import { ownGoTool } from './own-go-tool.ts';

/** Tells what network policies allow, by an engine that others have written; some minutes to build. */
export const networkPolicyJudge = ownGoTool('network-policy-judge', '0.5.6');
