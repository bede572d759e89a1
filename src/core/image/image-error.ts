/** Something about an image, its reference or what a registry says of it, that cannot be used; the message is a clause. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
