import type { ImageCommand } from '../../../core/injection/contract.ts';
import type { Pod } from '../../../core/kubernetes/pod.ts';

/** What images run, as their registries say. */
export interface ImageCommands {
  /**
   * What each of these images runs on the nodes that the pod can get, looked up with the pod's pull secrets.
   * @param namespace of the pod
   * @param images as the pod writes them; one of `dispensable` is left out where its registry answers without saying it
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
  /** Images of which only the user is wanted. */
  readonly dispensable?: ReadonlySet<string> | undefined;
  readonly signal?: AbortSignal | undefined;
}
