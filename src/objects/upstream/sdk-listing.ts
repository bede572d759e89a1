/**
 * Pages of a listing that is read by `@aws-sdk/client-s3`.
 * @param send requests the page that begins at these markers
 * @param following markers of the next page, which are undefined or missing if the store does not name them
 * @throws Error `BrokenListing` for a listing that would never end, or lacks its continuation; errors of `send`
 */
export async function* sdkPages<M extends object, P extends { readonly IsTruncated?: boolean | undefined }>(
  send: (markers: Partial<M>) => Promise<P>,
  following: (page: P) => M,
): AsyncGenerator<P> {
  let markers: Partial<M> | undefined = {};
  while (markers !== undefined) {
    const page: P = await send(markers);
    yield page;
    const next: M | undefined = page.IsTruncated === true ? following(page) : undefined;
    if (next !== undefined && isBroken(markers, next))
      throw Object.assign(new Error('the listing does not go on'), { name: 'BrokenListing' });
    markers = next;
  }
}

/** The first marker is the one that must be there, and some marker must differ from the last page's. */
function isBroken(last: object, next: object): boolean {
  const [first] = Object.values(next);
  return first === undefined || first === '' || JSON.stringify(last) === JSON.stringify(next);
}
