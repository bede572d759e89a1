/** Declares the package's builds of single algorithms; the package itself only declares all algorithms together. */
declare module 'hash-wasm/dist/*.umd.min.js' {
  const exported: typeof import('hash-wasm');
  export default exported;
}
