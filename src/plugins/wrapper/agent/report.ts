import { type AgentCallOptions, callAgent } from './call-agent.ts';
import { encodeReport, type ProtectionReport } from './messages.ts';

/**
 * Tells the agent what protection is in force, once the application runs and after each relaunch. A failure changes
 * nothing about the protection: the caller logs it.
 * @throws SvcError as `registerWithAgent`; the signal's reason
 */
export async function reportToAgent(report: ProtectionReport, options: AgentCallOptions): Promise<void> {
  await callAgent('Report', encodeReport(report), options);
}
