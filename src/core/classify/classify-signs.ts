import type { ContentSignals, Page } from '../model.ts'
import type { PageUrl } from '../url/page-url.ts'
import type { ContentMeasure } from './measure-content.ts'

/** Signs for or against a class, each from 0 to 1. */
export interface Signs {
  /** The page declares a schema.org article type. */
  readonly hasArticleType: number
  /** The Open Graph type of the page is `article`. */
  readonly hasOpenGraphArticle: number
  readonly isThread: number
  readonly isManual: number
  /** The page declares a schema.org or Open Graph type of a list, product, course or event. */
  readonly hasListType: number
  readonly hasAuthor: number
  readonly hasDate: number
  readonly isFront: number
  readonly urlArticle: number
  readonly urlDated: number
  readonly urlNav: number
  readonly urlOther: number
  /** Share of the text that is prose. */
  readonly prose: number
  /** Share of the text that is inside links. */
  readonly linkDensity: number
  /** Share of code in text and code together. */
  readonly code: number
  /** Number of lines that start with a link: 0 for none, 1 for `MANY_TEASERS` or more. */
  readonly teasers: number
  /** Share of lines that start with a link, compared with paragraphs of prose; each paragraph counts as two lines. */
  readonly teaserShare: number
  readonly fewWords: number
  /** Number of links within the site: 0 for none, 1 for `MANY_LINKS` or more. */
  readonly siteLinks: number
  /** Number of links to articles of the site: 0 for none, 1 for `MANY_LINKS` or more. */
  readonly siteArticleLinks: number
}

/** Reads the signs of a page from its address, its metadata and the structure of its text. */
export function readSigns(page: Page, pageUrl: PageUrl, measure: ContentMeasure, content: ContentSignals): Signs {
  const { types = [], generator } = page
  const declaresAnyOf = (names: ReadonlySet<string>) => Number(types.some((type) => names.has(type)))
  const isFront = pageUrl.segments.length === 0 && pageUrl.kind === 'nav'
  const textAndCode = measure.text + measure.code
  return {
    hasArticleType: Number(declaresArticle(page)),
    hasOpenGraphArticle: Number(types.includes('og:article')),
    isThread: Math.max(declaresAnyOf(THREAD_TYPES), Number(generator !== null && FORUMS.has(generator))),
    isManual: Math.max(declaresAnyOf(MANUAL_TYPES), Number(generator !== null && MANUALS.has(generator))),
    hasListType: declaresAnyOf(LIST_TYPES),
    hasAuthor: Number(page.author !== null),
    hasDate: Number(page.publishedAt !== null),
    isFront: Number(isFront),
    urlArticle: Number(pageUrl.kind === 'article'),
    urlDated: Number(pageUrl.kind === 'article' && pageUrl.hasDate),
    urlNav: Number(pageUrl.kind === 'nav'),
    urlOther: Number(pageUrl.kind === 'other'),
    prose: measure.text === 0 ? 0 : measure.prose / measure.text,
    linkDensity: content.linkDensity,
    code: textAndCode === 0 ? 0 : measure.code / textAndCode,
    teasers: Math.min(1, measure.teasers / MANY_TEASERS),
    teaserShare: measure.teasers / (measure.teasers + 2 * measure.proseParagraphs + 1),
    fewWords: Number(measure.text < FEW_WORDS_CHARS),
    siteLinks: Math.min(1, (content.navLinks + content.articleLinks) / MANY_LINKS),
    siteArticleLinks: Math.min(1, content.articleLinks / MANY_LINKS),
  }
}

const MANY_TEASERS = 15
const MANY_LINKS = 10
/** About sixty words, in characters, because some languages have no countable words. */
const FEW_WORDS_CHARS = 350

/** Whether a page declares itself an article in schema.org types. */
export function declaresArticle({ types = [] }: Page): boolean {
  return types.some((type) => ARTICLE_TYPES.has(type))
}

const ARTICLE_TYPES: ReadonlySet<string> = new Set(
  `article newsarticle blogposting analysisnewsarticle reportagenewsarticle opinionnewsarticle backgroundnewsarticle
  reviewnewsarticle scholarlyarticle medicalscholarlyarticle advertisercontentarticle satiricalarticle liveblogposting
  socialmediaposting report recipe howto review`.split(/\s+/),
)
const THREAD_TYPES: ReadonlySet<string> = new Set(['discussionforumposting', 'qapage'])
const MANUAL_TYPES: ReadonlySet<string> = new Set(['techarticle', 'apireference', 'og:book'])
const LIST_TYPES: ReadonlySet<string> = new Set(
  `collectionpage itemlist searchresultspage product productgroup offercatalog course event og:product
  og:product.group`.split(/\s+/),
)

/** Generators that run forums. */
const FORUMS: ReadonlySet<string> = new Set([
  'discourse',
  'xenforo',
  'stack exchange',
  'phpbb',
  'vbulletin',
  'invision',
  'simple machines',
  'mybb',
  'vanilla',
  'flarum',
  'nodebb',
  'khoros',
  'reddit',
  'hacker news',
  'discuz',
  'bbpress',
])

/** Generators of manuals and reference works. */
const MANUALS: ReadonlySet<string> = new Set(
  `mkdocs sphinx docusaurus vitepress starlight rustdoc mdbook javadoc doxygen typedoc jsdoc yard asciidoctor docbook texinfo
  gitbook nextra mintlify mediawiki github`.split(/\s+/),
)
