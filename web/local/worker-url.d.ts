/** The address of the script of a worker, which the build bundles by itself. */
declare module '*?worker&url' {
  const url: string
  export default url
}
