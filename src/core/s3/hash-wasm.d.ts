/** The algorithms one by one, in the form that the package builds for each; it declares only all of them together. */
declare module 'hash-wasm/dist/*.umd.min.js' {
  const exported: typeof import('hash-wasm');
  export default exported;
}
