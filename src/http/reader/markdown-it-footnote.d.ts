declare module 'markdown-it-footnote' {
  /** Parses footnotes as GitHub writes them. */
  const footnotes: (parser: import('markdown-it').default) => void
  export default footnotes
}
