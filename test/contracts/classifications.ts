import type { Classification, PageClass } from '../../src/core/model.ts'

/** A classification with the given class and made-up evidence. */
export function classificationOf(kind: PageClass, more: Partial<Classification> = {}): Classification {
  return {
    version: 1,
    kind,
    confidence: 0.8,
    url: {
      host: 'docs.test',
      tld: 'test',
      section: null,
      pathDepth: 1,
      slugLen: 4,
      hasDatePath: false,
      hasArticleWords: false,
      queryCount: 0,
    },
    content: { linkDensity: 0.1, h2: 1, h3: 0, a: 3, p: 5, wordCount: 100, navLinks: 2, articleLinks: 1 },
    ...more,
  }
}
