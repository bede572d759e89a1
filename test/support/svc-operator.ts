import { type Component, startComponent } from './component.ts';

/** One replica, as a process; its start-up line tells `webhook`, `grpc`, `metrics`, `health`. */
export type SvcOperator = Omit<Component, 'restart'>;

export interface SvcOperatorOptions {
  readonly kubeconfig: string;
  /** Where it listens, always at free ports. */
  readonly host: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
}

/**
 * Starts `svc run operator` and waits for its start-up line.
 * @throws Error with what it printed when it ends first
 */
export async function startSvcOperator(options: SvcOperatorOptions): Promise<SvcOperator> {
  const { kubeconfig, host, env, under = [] } = options;
  const free = `${host}:0`;
  const { restart: _addresses, ...operator } = await startComponent({
    ...{ name: 'operator', under },
    env: () => ({
      ...{ KUBECONFIG: kubeconfig, SVC_LOG_FORMAT: 'json' },
      ...{ SVC_OPERATOR_WEBHOOK_ADDR: free, SVC_OPERATOR_GRPC_ADDR: free },
      ...{ SVC_OPERATOR_METRICS_ADDR: free, SVC_OPERATOR_HEALTH_ADDR: free },
      ...env,
    }),
  });
  return operator;
}
