/** What is found on the way: mistakes deny the pod, warnings go to the person who applied it. */
export interface Remarks {
  readonly mistakes: string[];
  readonly warnings: string[];
}
