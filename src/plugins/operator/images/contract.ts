import type { ImageCommand } from '../../../core/injection/contract.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';

/** What images run, as their registries say. */
export interface ImageCommands {
  /**
   * What each of these images runs on the nodes that the pod can get, looked up with the pod's pull secrets.
   * @param namespace of the pod
   * @param images as the pod writes them
   * @throws ImageLookupError that names every image that could not be looked up, and why; the signal's reason when aborted
   */
  commandsOf(
    pod: Pod,
    namespace: string,
    images: readonly string[],
    options: LookupOptions,
  ): Promise<ReadonlyMap<string, ImageCommand>>;
}

export interface LookupOptions {
  /** In all; what takes longer goes on, so that the next one finds it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}
