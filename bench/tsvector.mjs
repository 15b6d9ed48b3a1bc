// The tokens of our index as values for PostgreSQL's own text search.

/** The stems of a text with their positions, as a `tsvector` literal. */
export function writeTsvector(analyzer, text) {
  const positions = new Map()
  let position = 0
  analyzer.visitTokens(text, (source, start, end) => {
    const stem = analyzer.stem(source.slice(start, end))
    positions.set(stem, [...(positions.get(stem) ?? []), ++position])
  })
  return [...positions].map(([stem, ofStem]) => `${quoteWord(stem)}:${ofStem.join()}`).join(' ')
}

/** A `tsquery` that matches any word of a question except stop words. */
export function writeTsquery(analyzer, query) {
  const stems = new Set()
  analyzer.visitTokens(query, (source, start, end) => {
    const token = source.slice(start, end)
    if (!analyzer.isStopWord(token)) stems.add(quoteWord(analyzer.stem(token)))
  })
  return [...stems].join(' | ')
}

function quoteWord(word) {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}
