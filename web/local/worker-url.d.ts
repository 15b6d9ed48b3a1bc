/** The address of a worker script, which Vite bundles separately. */
declare module '*?worker&url' {
  const url: string
  export default url
}
