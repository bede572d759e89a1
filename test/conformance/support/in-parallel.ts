/** Calls `work` with 0 to count - 1, so many at a time, in order. @throws what the first failing call throws */
export async function inParallel(
  count: number,
  workers: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  try {
    await Promise.all(Array.from({ length: workers }, worker));
  } catch (error) {
    next = count;
    throw error;
  }
}
