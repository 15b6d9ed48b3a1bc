/** Score factor of record pages, which list or log things, relative to guides and references. */
const RECORD_PRIOR = 0.8

/** Number of path parts that count, from the end: folders above a source do not describe its pages. */
const MAX_PARTS = 3

/** Path parts that name record pages: changelogs, release notes, indexes, glossaries, blogs, lists of people, lock files. */
const RECORD_PART =
  /^(?:changelog|whats-?new|release[-_]?notes?|releases|release-\d[\w.-]*|relnotes|glossary|genindex[\w-]*|bookindex|index-all|api-index[\w-]*|index-files|ix\d+|blog|posts|acknowledge?ments|contributors|authors|package-lock|pnpm-lock|[\w-]+\.lock)$/i

/** Words of a question that asks for a record page. */
const RECORD_WORD =
  /\b(?:changes?|changed|changelog|new|releases?|released|versions?|since|history|deprecat\w*|removed|upgrad\w*|glossary|index|blog|lock ?file)\b/i

/** Returns the score factor of a page by its address: 1 for most pages. */
export type PagePrior = (url: string) => number

/** The priors of pages for a question. Changelogs and similar pages count in full when the question asks for them. */
export function createPagePrior(question: string): PagePrior {
  if (RECORD_WORD.test(question)) return () => 1
  return (url) => {
    const [path = ''] = url.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '').split(/[?#]/, 1)
    const isRecord = path
      .split('/')
      .slice(-MAX_PARTS)
      .some((part) => RECORD_PART.test(part.replace(/\.(?:x?html?|md|mdx|rst|txt|json|yaml)$/i, '')))
    return isRecord ? RECORD_PRIOR : 1
  }
}
